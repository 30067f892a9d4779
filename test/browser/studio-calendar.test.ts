import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { type Member, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-calendar";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const Events = z.object({ results: z.array(z.object({ date: z.looseObject({}) })) });

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
  for (const [titleRaw, days] of [
    ["The derby", 3],
    ["The cup final", 20],
    ["Last season's final", -100],
  ] as const) {
    await site.create("/event/v1/event-calendar", { titleRaw, date: { startTimestamp: Date.now() + days * DAY } });
  }
});

afterAll(() => browser.close());

test("lists the calendar's events of the period that is chosen, and keeps it in the address", async () => {
  const { page, errors } = await site.open(browser, "/content/calendar", admin);
  const titles = () => page.getByRole("table", { name: "Calendar" }).getByRole("rowheader").allTextContents();
  const choose = (text: string) => page.getByLabel("Period").selectOption({ label: text });

  await expect.poll(titles).toEqual(["The derby", "The cup final"]);
  await choose("Next 7 days");
  await expect.poll(titles).toEqual(["The derby"]);
  await choose("Before today");
  await expect.poll(titles).toEqual(["Last season's final"]);
  await choose("At any time");
  await expect.poll(titles).toEqual(["Last season's final", "The derby", "The cup final"]);

  await choose("Between two days…");
  await page.getByLabel("First day").fill(dayIn(2));
  await page.getByLabel("Last day").fill(dayIn(4));
  await expect.poll(titles).toEqual(["The derby"]);
  expect(await violationsOf(page)).toEqual([]);
  await page.reload();
  await expect.poll(titles).toEqual(["The derby"]);
  await page.getByLabel("Last day").fill(dayIn(1));
  await page.getByText("This is before the first day.").waitFor();
  await page.getByLabel("Last day").fill(dayIn(2));
  await page.getByText("There are no events in this period.").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(errors).toEqual([]);
});

/** A day as the browser's date field writes it. */
function dayIn(days: number): string {
  return new Intl.DateTimeFormat("sv-SE").format(Date.now() + days * DAY);
}

test("an event's time zone is chosen, and its screen says when it was changed instead of its id", async () => {
  const { page, errors } = await site.open(browser, "/content/calendar/new", admin);
  const user = new KeyboardUser(page);
  await user.type(page.getByRole("textbox", { name: "Title" }).first(), "Open training");
  await user.reach(page.getByLabel(/^Start/).first());
  // A year may have more than four digits: its field is left by itself for no other.
  await page.keyboard.type("05012031");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.type("1000AM");
  expect(
    await page
      .getByLabel(/^Start/)
      .first()
      .inputValue(),
  ).toBe("2031-05-01T10:00");
  await user.choose(page.getByRole("combobox", { name: "Time zone" }), "America/New York");
  await user.press(page.getByRole("button", { name: "Create" }));
  await page.getByRole("link", { name: "Open training" }).click();
  await page.getByRole("heading", { level: 1, name: "Open training" }).waitFor();
  await page.getByText(/^Last changed /).waitFor();
  expect(await page.getByRole("combobox", { name: "Time zone" }).inputValue()).toBe("America/New_York");
  expect(await page.getByRole("main").innerText()).not.toMatch(/\b[0-9a-f]{24}\b/);
  expect(errors).toEqual([]);
});

test("a new event ends an hour after its start, and its length stays when it is moved", async () => {
  const { page, errors } = await site.open(browser, "/content/calendar/new", admin);
  const [starts, ends] = [page.getByLabel(/^Starts/), page.getByLabel(/^Ends/)];
  await expect.poll(() => page.getByLabel("Has an end").isChecked()).toBe(true);
  const length = async () => new Date(await ends.inputValue()).getTime() - new Date(await starts.inputValue()).getTime();
  expect(await length()).toBe(HOUR);
  await starts.fill("2031-06-01T15:00");
  await expect.poll(() => ends.inputValue()).toBe("2031-06-01T16:00");
  await ends.fill("2031-06-01T17:30");
  await starts.fill("2031-06-02T15:00");
  await expect.poll(() => ends.inputValue()).toBe("2031-06-02T17:30");
  await page.getByRole("textbox", { name: "Title" }).first().fill("Late training");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "Late training" }).waitFor();
  const { results } = Events.parse(
    await site.call("GET", "/event/v1/event-calendar?startTimestamp=0&endTimestamp=2000000000000&search=Late"),
  );
  expect(results.map(({ date }) => date)).toEqual([
    expect.objectContaining({ useEndTime: true, endTimestamp: new Date("2031-06-02T17:30").getTime() }),
  ]);
  expect(errors).toEqual([]);
});
