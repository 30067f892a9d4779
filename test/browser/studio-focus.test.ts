import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { itemsOf, openRun } from "./studio-run-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-focus";

let browser: Browser;
let site: StudioSite;
let admin: Member;
let channelId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
  channelId = await site.create("/page/v2", { type: "channel", slug: "main", data: { name: "Main" } });
});

afterAll(() => browser.close());

test("a closed dialog returns the focus to what opened it, also after it has led to another dialog", async () => {
  const { page, errors } = await site.open(browser, "/developers/keys", admin);
  const press = buttonsOf(page);
  for (const name of ["Scoreboard", "Website"]) {
    await press("New key");
    await page.getByLabel("Name", { exact: true }).waitFor();
    await page.keyboard.type(name);
    await press("Create");
    await page.getByRole("dialog", { name }).waitFor();
    await press("Done");
    await expectFocus(page.getByRole("button", { name: "New key" }));
  }
  await press("Rotate Website");
  await press("Rotate");
  await page.getByRole("dialog", { name: "Website" }).waitFor();
  await press("Done");
  await expectFocus(page.getByRole("button", { name: "Rotate Website" }));
  await press("Revoke Website");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await expectFocus(page.getByRole("button", { name: "Revoke Website" }));
  expect(errors).toEqual([]);
});

test("the focus of a row that is gone goes to the next row, and then to the screen", async () => {
  const { page } = await site.open(browser, "/developers/keys", admin);
  const press = buttonsOf(page);
  const rows = page.getByRole("table", { name: "API keys" }).getByRole("row");
  await rows.first().waitFor();
  for (let left = (await rows.count()) - 1; left > 0; left--) {
    await page
      .getByRole("button", { name: /^Revoke / })
      .first()
      .focus();
    await page.keyboard.press("Enter");
    await press("Revoke");
    if (left > 1) await expectFocus(rows.nth(1).getByRole("button").first());
    else await expectFocus(page.getByRole("main"));
  }
});

test("a form that was saved, and what replaces it, keep the focus on the same button", async () => {
  const { page } = await site.open(browser, `/content/channels/${channelId}`, admin);
  await page.getByLabel("Name", { exact: true }).fill("Main stage");
  await page.getByRole("button", { name: "Save" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Main stage" }).waitFor();
  await expectFocus(page.getByRole("button", { name: "Save" }));
});

test("a dialog of Run returns the focus although something on the page is still moving", async () => {
  const { page, problems } = await openRun(browser, url, "admin");
  const press = buttonsOf(page);
  const before = await itemsOf(page).count();
  await page.evaluate(() => {
    const moving = document.createElement("div");
    document.body.append(moving);
    moving.style.setProperty("transition", "opacity 3600s", "important");
    moving.getBoundingClientRect();
    moving.style.opacity = String(Number(getComputedStyle(moving).opacity) / 2);
  });
  await press("Add item");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Kind").selectOption("note");
  await dialog.getByLabel("Name").fill("Kick-off");
  await dialog.getByLabel("Name").press("Enter");
  await dialog.waitFor({ state: "detached" });
  await expectFocus(page.getByRole("button", { name: "Add item" }));
  await expect.poll(() => itemsOf(page).count()).toBe(before + 1);
  await page.getByRole("button", { name: "New rundown" }).focus();
  await page.keyboard.press("Enter");
  await dialog.getByLabel("Name").fill("Second half");
  await dialog.getByLabel("Name").press("Enter");
  await page.getByText("The rundown is empty.").waitFor();
  await expectFocus(page.getByRole("button", { name: "New rundown" }));
  expect(problems).toEqual([]);
});

test("the focus that somebody takes away with the pointer isn't brought back", async () => {
  const { page } = await site.open(browser, "/content/channels", admin);
  const search = page.getByLabel("Search");
  await search.fill("nothing like it");
  await page.getByText("Nothing matches.").click();
  await expectFocus(page.locator("#main"));
  await page.evaluate(() => document.body.append(document.createElement("div")));
  await page.getByText("Nothing matches.").click();
  await expectFocus(page.locator("#main"));
});

/** Presses buttons by keyboard. */
function buttonsOf(page: Page): (name: string) => Promise<void> {
  return (name) => page.getByRole("button", { name, exact: true }).press("Enter");
}

function expectFocus(element: Locator): Promise<void> {
  return expect.poll(() => element.evaluate((found) => found === document.activeElement)).toBe(true);
}
