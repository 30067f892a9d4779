import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { ANNOUNCER, type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-navigation";
const Navigation = z.object({ name: z.string(), type: z.string(), parents: z.array(z.unknown()), externalLinks: z.array(z.unknown()) });

let browser: Browser;
let site: StudioSite;
let admin: Member;
let main: string;
let second: string;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
  main = await site.create("/page/v2", { type: "channel", slug: "main", data: { name: `Main ${SCRIPT}` } });
  second = await site.create("/page/v2", { type: "channel", slug: "second", data: { name: "Second stage" } });
});

afterAll(() => browser.close());

const read = async (id: string) => Navigation.parse(await site.call("GET", `/navigation/v1/${id}`));
const rows = (page: Page) => page.getByRole("treegrid", { name: "Entries" }).getByRole("row");
const entryOf = (page: Page) => page.getByRole("group", { name: /^Entry/ });
const folder = (name: string, children: unknown[] = []) => ({
  ...{ type: "folder", name, private: false },
  ...(children.length > 0 && { children }),
});
const channel = (pageId: string) => ({ type: "channel", pageId, private: false });

function newNavigation(parents: unknown[]): Promise<string> {
  return site.create("/navigation/v1", { siteId: site.id, name: `Menu ${SCRIPT}`, type: "custom", parents, externalLinks: [] });
}

test("a menu is written with the keyboard alone, from an empty one to a tree with a private entry", async () => {
  const { page, errors } = await site.open(browser, "/content/navigation", admin);
  await page.getByText("There are no navigations yet.").waitFor();
  const user = new KeyboardUser(page);
  const press = (name: string) => user.press(page.getByRole("button", { name, exact: true }));
  await user.press(page.getByRole("link", { name: "New navigation" }));
  await page.getByRole("heading", { name: "New navigation" }).waitFor();
  await user.type(page.getByLabel("Name"), "Match day");
  await press("Add entry");
  await user.type(page.getByLabel("Shown as"), "Behind the scenes");
  await press("Add entry");
  await user.choose(page.getByLabel("Leads to"), "Chan");
  await user.choose(page.getByLabel("Page", { exact: true }), "Second");
  await user.press(page.getByRole("switch", { name: "Private" }), "Space");
  await user.reach(page.getByRole("treegrid", { name: "Entries" }));
  await user.moveTo(rows(page).filter({ hasText: "Second stage" }), "ArrowDown");
  await page.keyboard.press("Alt+ArrowRight");
  await expect.poll(() => rows(page).last().getAttribute("aria-level")).toBe("2");
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await press("Create");
  await page.getByRole("heading", { level: 1, name: "Match day" }).waitFor();
  const id = page.url().split("/").at(-1)?.slice(0, 24) ?? "";
  expect((await read(id)).parents).toEqual([folder("Behind the scenes", [{ ...channel(second), private: true }])]);
  expect(errors).toEqual([]);
});

test("an entry is dragged onto a folder, and taken out again with a button", async () => {
  const id = await newNavigation([channel(main), folder("Archive"), channel(second)]);
  const { page, errors } = await site.open(browser, `/content/navigation/${id}`, admin);
  await rows(page)
    .filter({ hasText: "Second stage" })
    .dragTo(rows(page).filter({ hasText: "Archive" }));
  await expect.poll(() => rows(page).last().getAttribute("aria-level")).toBe("2");
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect((await read(id)).parents).toEqual([channel(main), folder("Archive", [channel(second)])]);
  await rows(page).filter({ hasText: "Second stage" }).click();
  await entryOf(page).getByRole("button", { name: "Out" }).click();
  await entryOf(page).getByRole("button", { name: "Up" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await read(id)).parents).toEqual([channel(main), channel(second), folder("Archive")]);
  await page.setViewportSize({ width: 834, height: 1112 });
  await page.emulateMedia({ colorScheme: "dark" });
  await rows(page).first().click();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(834);
  expect(errors).toEqual([]);
});

test("what the server objects to is shown at the entry and at the link, and what somebody else has changed isn't overwritten", async () => {
  const gone = await site.create("/page/v2", { type: "channel", slug: "gone", data: { name: "Gone" } });
  const id = await newNavigation([folder("Shows"), channel(main)]);
  const { page, errors } = await site.open(browser, `/content/navigation/${id}`, admin);
  await rows(page).filter({ hasText: "Main" }).click();
  await entryOf(page).getByLabel("Page").selectOption({ label: "Gone" });
  await page.getByRole("button", { name: "Add link" }).click();
  await page.getByRole("group", { name: "Link 1" }).getByLabel("Text").fill("Tickets");
  await page.getByRole("group", { name: "Link 1" }).getByLabel("Address").fill("javascript:alert(1)");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Address").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByLabel("Address").fill("https://tickets.example/");
  await site.call("DELETE", `/page/v2/${gone}`);
  await page.getByRole("button", { name: "Save" }).click();
  await rows(page).filter({ hasText: "Not right yet" }).waitFor();
  await entryOf(page).getByText("The site has no channel with this id").waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await entryOf(page).getByLabel("Page").selectOption({ label: "Second stage" });
  const theirs = { siteId: site.id, name: "Theirs", type: "custom", parents: [folder("Shows", [folder("Inner")])], externalLinks: [] };
  await site.call("PUT", `/navigation/v1/${id}`, theirs);
  await page.getByRole("button", { name: "Save" }).click();
  const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" });
  await dialog.getByRole("row").filter({ hasText: "Entries" }).getByText("1.1. Inner").waitFor();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await dialog.getByRole("button", { name: "Save mine" }).click();
  await page.getByText("Saved.").waitFor();
  expect(await read(id)).toMatchObject({
    name: `Menu ${SCRIPT}`,
    parents: [folder("Shows"), channel(second)],
    externalLinks: [{ name: "Tickets", url: "https://tickets.example/" }],
  });
  expect(errors).toEqual([]);
});

test("who only reads sees the menu without anything that changes it", async () => {
  const id = await newNavigation([folder("Shows", [channel(main)])]);
  const reader = await site.member("Rita", `rita@${SLUG}.example`, [{ scope: "*", pageId: [], write: false }]);
  const { page } = await site.open(browser, `/content/navigation/${id}`, reader);
  await rows(page).filter({ hasText: "Main" }).click();
  await entryOf(page).waitFor();
  for (const name of ["Save", "Add entry", "Add link", "Up", "Delete…"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
});
