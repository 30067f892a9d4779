import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { url } from "./test-server.ts";

// A contrast theme (of Windows, for example) leaves no colours but the system's.

const SLUG = "studio-contrast";

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
});

afterAll(() => browser.close());

async function open(screen: string): Promise<Page> {
  const { page } = await site.open(browser, screen, admin);
  await page.emulateMedia({ forcedColors: "active" });
  return page;
}

/** The colours that an element is painted with. */
function paintOf(element: Locator, part?: "::before"): Promise<Record<"text" | "fill" | "lowerEdge", string>> {
  return element.evaluate((node, pseudo) => {
    const { color, backgroundColor, borderBottomColor } = getComputedStyle(node, pseudo);
    return { text: color, fill: backgroundColor, lowerEdge: borderBottomColor };
  }, part);
}

test("a switch shows whether it is on", async () => {
  const page = await open("/developers/deliveries");
  await page.getByRole("button", { name: "Endpoint…" }).click();
  const track = page.locator(".switch-track");
  const fills: string[] = [];
  for (const isOn of [false, true]) {
    const control = page.getByRole("switch", { name: "Send events" });
    if ((await control.isChecked()) !== isOn) await control.press("Space");
    const { fill } = await paintOf(track);
    fills.push(fill);
    expect((await paintOf(track, "::before")).fill).not.toBe(fill);
  }
  expect(fills[0]).not.toBe(fills[1]);
  await page.context().close();
});

test.each([
  ["the main action", "/developers/keys", ".button-primary"],
  ["the link to the content", "/developers/keys", ".skip-link"],
  ["a step's number", "/rules/new", ".rule-step"],
])("%s can be read on its fill", async (_, screen, selector) => {
  const page = await open(screen);
  const element = page.locator(selector).first();
  const { text, fill } = await paintOf(element);
  expect(text).not.toBe(fill);
  // Otherwise the browser puts the page's colour behind the text.
  expect(await element.evaluate((node) => getComputedStyle(node).getPropertyValue("forced-color-adjust"))).toBe("none");
  await page.context().close();
});

test("samples of colours stay as they are", async () => {
  const page = await open("/content/themes");
  const sample = page.locator(".theme-sample").first();
  const { fill } = await paintOf(sample);
  await page.emulateMedia({ forcedColors: "none" });
  expect((await paintOf(sample)).fill).toBe(fill);
  await page.context().close();
});

test("the chosen tab has another edge than the others", async () => {
  await site.create("/page/v2", { type: "channel", slug: "main", data: { name: "Main" } });
  const page = await open("/moderate");
  const [chosen, other] = [page.getByRole("tab", { selected: true }), page.getByRole("tab", { selected: false }).first()];
  expect((await paintOf(chosen)).lowerEdge).not.toBe((await paintOf(other)).lowerEdge);
  await page.context().close();
});

test("the bars of a poll can be told from their tracks", async () => {
  const answers = [{ answer: "Harbour City" }, { answer: "Old Dock" }];
  const poll = { siteId: site.id, type: "poll", name: "Derby", question: "Who wins?", open: true, answers };
  const pollId = await site.create("/poll/v3", poll);
  const page = await open(`/polls/${pollId}`);
  const track = page.locator(".tally-track").first();
  expect((await paintOf(track.locator("span"))).fill).not.toBe((await paintOf(track)).fill);
  await page.context().close();
});
