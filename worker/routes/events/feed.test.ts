import { eq } from "drizzle-orm";
import ICAL from "ical.js";
import { describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { calendarEvents } from "#db/schema/calendar.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { newId } from "#worker/lib/ids.ts";
import { CalendarEvent } from "#worker/services/events/schemas.ts";
import { siteStore } from "#test/site-store.ts";

// Parses the feed with a different library from the one that writes it, as a calendar client would.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function feed(site: TestSite, query: Record<string, string> = {}): Promise<ICAL.Component> {
  const response = await site.call("getCalendarFeed", { query });
  expect(response.status, response.text).toBe(200);
  return ICAL.Component.fromString(response.text);
}

async function entries(site: TestSite, query: Record<string, string> = {}): Promise<ICAL.Event[]> {
  return (await feed(site, query)).getAllSubcomponents("vevent").map((component) => new ICAL.Event(component));
}

async function create(site: TestSite, change: Record<string, unknown> = {}) {
  const date = { startTimestamp: Date.now() + DAY };
  return (await site.call("createCalendarEvent", { body: { titleRaw: "Derby", date, ...change } })).as(CalendarEvent);
}

/** The next hour that occurs twice in London: clocks go back at 01:00 UTC on the last Sunday of October (Directive 2000/84/EC). */
function nextRepeatedHour(year = new Date().getUTCFullYear()): number {
  const lastDay = new Date(Date.UTC(year, 9, 31));
  const hour = lastDay.getTime() - lastDay.getUTCDay() * DAY;
  return hour > Date.now() ? hour : nextRepeatedHour(year + 1);
}

function inUtc(time: number): string {
  return new Date(time).toISOString().replace(".000", "");
}

describe("the calendar feed", () => {
  test("is kept by shared caches only where its URL names the site", async () => {
    const site = await newSite();
    const byHeader = await site.call("getCalendarFeed", { as: "client" });
    expect([byHeader.headers.get("Cache-Control"), byHeader.headers.get("Vary")]).toEqual(["private, max-age=300", "Tifo-Client-Id"]);
    const byQuery = await site.call("getCalendarFeed", { as: "nobody", query: { clientId: site.id } });
    expect([byQuery.status, byQuery.headers.get("Cache-Control")]).toEqual([200, "public, max-age=300"]);
  });

  test("contains each event with its start and end in UTC", async () => {
    const site = await newSite();
    const start = nextRepeatedHour() + HOUR / 2;
    const date = { startTimestamp: start, endTimestamp: start + HOUR, timeZone: "Europe/London" };
    const image = { src: `/media/v1/${newId(1)}` };
    const created = await create(site, {
      titleRaw: "Night match",
      descriptionRaw: "Late",
      date,
      image,
      categories: [{ title: "Competition", label: "Cup" }],
    });
    const [entry] = await entries(site);
    expect(entry).toMatchObject({ uid: `${created._id}@tifo`, summary: "Night match", description: "Late", sequence: 0 });
    expect(entry?.startDate.toString()).toBe(inUtc(start));
    expect(entry?.endDate.toString()).toBe(inUtc(start + HOUR));
    expect(entry?.component.getFirstPropertyValue("attach")).toBe(`${ORIGIN}${image.src}`);
    expect(entry?.component.getFirstPropertyValue("categories")).toBe("Cup");
  });

  test("omits a missing end and a hidden image", async () => {
    const site = await newSite();
    await create(site, { image: { show: false, src: "https://demo.example/a.png" } });
    const [entry] = await entries(site);
    expect(entry?.component.hasProperty("dtend")).toBe(false);
    expect(entry?.component.hasProperty("attach")).toBe(false);
  });

  test("omits an image with an invalid URL", async () => {
    const site = await newSite();
    const { _id } = await create(site, { image: { src: "https://demo.example/a.png" } });
    const image = { show: true, src: "https://demo.example:99999/a.png" };
    await createDb(siteStore).update(calendarEvents).set({ image }).where(eq(calendarEvents.id, _id));
    const [entry] = await entries(site);
    expect(entry?.summary).toBe("Derby");
    expect(entry?.component.hasProperty("attach")).toBe(false);
  });

  test("escapes any text, in lines of at most 75 bytes", async () => {
    const site = await newSite();
    const titleRaw = 'Süß; "a,b" \\ c: ⚽️🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉';
    const descriptionRaw = `First\r\nsecond\n\nBEGIN:VEVENT\n${"ä".repeat(200)}`;
    await create(site, { titleRaw, descriptionRaw: `${descriptionRaw}\u0007`, categories: [{ title: "Kind", label: "a,b;c" }] });
    const { text } = await site.call("getCalendarFeed");
    expect(text.replaceAll("\r\n", "")).not.toMatch(/\p{Cc}/u);
    for (const line of text.split("\r\n")) expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(75);
    const [entry, ...others] = await entries(site);
    expect(others).toEqual([]);
    expect([entry?.summary, entry?.description]).toEqual([titleRaw, descriptionRaw.replace("\r\n", "\n")]);
    expect(entry?.component.getFirstPropertyValue("categories")).toBe("a,b;c");
  });

  test("covers the site or one channel, and is named after it", async () => {
    const site = await newSite();
    const channel = await site.addChannel("named", { name: "Old; stand\r\nX-EVIL:1" });
    await create(site, { titleRaw: "On the channel", channelId: channel });
    await create(site, { titleRaw: "Of the site" });
    await create(await newSite(), { titleRaw: "Of another site" });
    expect((await entries(site)).map((entry) => entry.summary).sort()).toEqual(["Of the site", "On the channel"]);
    expect((await entries(site, { channelId: channel })).map((entry) => entry.summary)).toEqual(["On the channel"]);
    expect((await site.call("getCalendarFeed", { query: { channelId: channel } })).text).toContain(
      "\r\nX-WR-CALNAME:Harbour City FC: Old\\; stand X-EVIL:1\r\n",
    );
    expect((await site.call("getCalendarFeed", { query: { channelId: newId(1) } })).status).toBe(404);
  });

  test("requires only the site's id, in the header or the query", async () => {
    const site = await newSite();
    await create(site);
    const response = await site.call("getCalendarFeed", { as: "nobody", query: { clientId: site.id } });
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/calendar; charset=utf-8");
    expect(response.log.d1.roundTrips).toBeLessThanOrEqual(1);
    expect(await site.call("getCalendarFeed", { as: "nobody" })).toMatchObject({ status: 400, fields: ["clientId"] });
  });

  test("drops events that ended more than 30 days ago", async () => {
    const site = await newSite();
    const past = (days: number) => ({ startTimestamp: Date.now() - (days + 1) * DAY, endTimestamp: Date.now() - days * DAY });
    await create(site, { titleRaw: "Gone", date: past(30.1) });
    await create(site, { titleRaw: "Still there", date: past(29.9) });
    await create(site, { titleRaw: "Long", date: { startTimestamp: Date.now() - 360 * DAY, endTimestamp: Date.now() } });
    expect((await entries(site)).map((entry) => entry.summary)).toEqual(["Long", "Still there"]);
  });

  test("stamps each event with its last change, not with the time of the request", async () => {
    const site = await newSite();
    const { _id } = await create(site);
    await createDb(siteStore).update(calendarEvents).set({ modified: 1000 }).where(eq(calendarEvents.id, _id));
    const [entry] = await entries(site);
    expect(String(entry?.component.getFirstPropertyValue("dtstamp"))).toBe("1970-01-01T00:00:01Z");
  });

  test("responds with 304 until something has changed", async () => {
    const site = await newSite();
    const created = await create(site);
    const { headers } = await site.call("getCalendarFeed");
    const known = { "If-None-Match": headers.get("ETag") ?? "" };
    expect((await site.call("getCalendarFeed", { headers: known })).status).toBe(304);
    await site.call("updateCalendarEvent", { params: { id: created._id }, body: { titleRaw: "Replay", date: created.date } });
    expect((await site.call("getCalendarFeed", { headers: known })).status).toBe(200);
    expect((await entries(site))[0]).toMatchObject({ summary: "Replay", sequence: 1 });
  });
});
