import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { ANNOUNCER, type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-themes";
const Theme = z.looseObject({ name: z.string(), mode: z.string(), colors: z.record(z.string(), z.string()) });

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
});

afterAll(() => browser.close());

test("a theme is created with its warnings shown while it is edited, previewed, changed, and deleted unless a page uses it", async () => {
  const { page, errors } = await site.open(browser, "/content/themes", admin);
  await page.getByText("The site has no themes yet.").waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await page.getByRole("link", { name: "New theme" }).click();
  await page.getByLabel("Name", { exact: true }).fill(`Floodlight ${SCRIPT}`);
  await page.getByRole("textbox", { name: "Secondary text", exact: true }).fill("#333344");
  await page.getByText(/^1\.\d+:1 on “Raised background”: text needs 4\.5:1$/).waitFor();
  await page.getByLabel("Choose the accent").fill("#c3163a");
  expect(await page.getByRole("textbox", { name: "Accent", exact: true }).inputValue()).toBe("#c3163a");
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("Mira Castellanos").first().waitFor();
  await preview.getByLabel("Overlays").selectOption("goal");
  await preview.getByText("Mira Castellanos").first().waitFor({ state: "detached" });
  await page.getByText("More colours").click();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await page.getByRole("textbox", { name: "Highlight", exact: true }).fill("yellow");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("textbox", { name: "Highlight", exact: true }).and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByRole("textbox", { name: "Highlight", exact: true }).fill("#ffcc00");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.waitForURL(/\/content\/themes\/[0-9a-f]{24}/);
  const id = /[0-9a-f]{24}/.exec(page.url())?.[0] ?? "";
  const saved = async () => Theme.parse(await site.call("GET", `/themes/v1/${id}`));
  expect(await saved()).toMatchObject({ mode: "dark", colors: { accent: "#c3163a", highlight: "#ffcc00", text200: "#333344" } });

  await page.getByRole("textbox", { name: "Secondary text", exact: true }).fill("#ccccdd");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect((await saved()).colors).toMatchObject({ text200: "#ccccdd" });

  const pageId = await site.create("/page/v2", { type: "channel", slug: "main", data: { name: "Main stage", theme: id } });
  const remove = async () => {
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
  };
  await remove();
  await page.getByText("Pages use this theme; give them another one first: Main stage").waitFor();
  await site.call("PUT", `/page/v2/${pageId}`, { slug: "main", data: { name: "Main stage" } });
  await remove();
  await page.getByText("The theme has been deleted.").waitFor();
  await page.getByText("The site has no themes yet.").waitFor();
  expect(errors.filter((error) => !error.includes("400") && !error.includes("409"))).toEqual([]);
});

test("a role that only reads sees a theme as it is", async () => {
  const id = await site.create("/themes/v1/custom", {
    name: "Quayside",
    colors: { accent: "#0b6bcb", text100: "#777777", surface1: "#888888" },
  });
  const reader = await site.member("Rita", `rita@${SLUG}.example`, [{ scope: "*", pageId: [], write: false }]);
  const { page } = await site.open(browser, "/content/themes", reader);
  await page.getByText("Hard to read").waitFor();
  expect(await page.getByRole("link", { name: "New theme" }).count()).toBe(0);
  await page.getByRole("link", { name: /Quayside/ }).click();
  await page.waitForURL(new RegExp(id));
  await page.getByText("Your role only reads.").waitFor();
  expect(await page.getByRole("textbox", { name: "Accent", exact: true }).isEditable()).toBe(false);
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
});
