import { z } from "@hono/zod-openapi";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { url } from "./test-server.ts";

// Studio's two ways of sending: forms that are generated from the OpenAPI document, and screens with the typed client.

const SLUG = "studio-created-once";

const Rundowns = z.object({ results: z.array(z.object({ name: z.string() })) });

let browser: Browser;
let site: StudioSite;
let admin: Member;
let channelId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
  channelId = await site.create("/page/v2", { type: "channel", slug: SLUG, data: { name: "Derby day" } });
});

afterAll(() => browser.close());

/** Lets what is created reach the server while its answers are lost; ends when Studio has given up. */
async function whileAnswersAreLost(page: Page, path: string, create: () => Promise<void>): Promise<void> {
  await page.route(`**${path}`, (route) =>
    route.request().method() === "POST" ? route.fetch().then(() => route.abort()) : route.continue(),
  );
  await create();
  await page.getByText("The server can't be reached.").first().waitFor();
  await page.unroute(`**${path}`);
}

test("a form whose answer was lost creates one when it is sent again", async () => {
  const { page } = await site.open(browser, "/content/calendar/new", admin);
  await page.getByRole("textbox", { name: "Title" }).first().fill("The derby");
  const create = () => page.getByRole("button", { name: "Create" }).click();
  await whileAnswersAreLost(page, "/event/v1/event-calendar", create);
  await create();
  await page.getByRole("link", { name: "The derby" }).waitFor();
  expect(await page.getByRole("link", { name: "The derby" }).count()).toBe(1);
});

test("a rundown whose answer was lost is created once when it is sent again", async () => {
  const { page } = await site.open(browser, `/run/${channelId}`, admin);
  await page.getByRole("button", { name: "New rundown" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New rundown" });
  await dialog.getByLabel("Name").fill("First half");
  const create = () => dialog.getByRole("button", { name: "Create" }).click();
  await whileAnswersAreLost(page, "/rundown/v1", create);
  await create();
  await dialog.waitFor({ state: "detached" });
  const { results } = Rundowns.parse(await site.call("GET", `/rundown/v1?channelId=${channelId}`));
  expect(results.map(({ name }) => name)).toEqual(["First half"]);
});

test("what took effect without an answer that can be repeated is said to be there", async () => {
  const { page } = await site.open(browser, `/run/${channelId}`, admin);
  const json = { success: false, status: 409, code: "idempotency_unanswered", message: "The first request took effect" };
  await page.route("**/rundown/v1", (route) =>
    route.request().method() === "POST" ? route.fulfill({ status: 409, json }) : route.continue(),
  );
  await page.getByRole("button", { name: "New rundown" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New rundown" });
  await dialog.getByLabel("Name").fill("Second half");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("This was done before, and only its answer was lost. Load the page again to see it.").waitFor();
});
