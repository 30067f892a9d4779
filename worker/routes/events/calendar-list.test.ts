import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { calendarEvents } from "#db/schema/calendar.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { CalendarEvent, CalendarFilter, CategoryCount, LabelCount } from "#worker/services/events/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const HOUR = 3_600_000;
const CalendarEventList = listOf(CalendarEvent);

async function titles(site: TestSite, query: Record<string, string | number>): Promise<string[]> {
  return (await site.call("listCalendarEvents", { query })).as(CalendarEventList).results.map((event) => event.titleRaw);
}

function create(site: TestSite, titleRaw: string, start: string, end?: string, change: Record<string, unknown> = {}) {
  const date = { startTimestamp: Date.parse(start), endTimestamp: end === undefined ? undefined : Date.parse(end) };
  return site.call("createCalendarEvent", { body: { titleRaw, date, ...change } });
}

describe("a time range", () => {
  let site: TestSite;

  beforeAll(async () => {
    site = await newSite();
    await create(site, "long", "2026-01-10T00:00Z", "2026-12-24T00:00Z");
    await create(site, "match", "2026-11-21T15:00Z", "2026-11-21T17:00Z");
    await create(site, "moment", "2026-11-21T16:00Z");
  });

  test.for<[from: string, to: string, found: string[]]>([
    ["2026-11-21T14:00Z", "2026-11-21T15:00Z", ["long"]],
    ["2026-11-21T14:00Z", "2026-11-21T15:00:00.001Z", ["long", "match"]],
    ["2026-11-21T15:00Z", "2026-11-21T17:00Z", ["long", "match", "moment"]],
    ["2026-11-21T16:00Z", "2026-11-21T16:30Z", ["long", "match", "moment"]],
    ["2026-11-21T16:00:00.001Z", "2026-11-21T16:30Z", ["long", "match"]],
    ["2026-11-21T16:59:59.999Z", "2026-11-21T18:00Z", ["long", "match"]],
    ["2026-11-21T17:00Z", "2026-11-21T18:00Z", ["long"]],
    ["2026-12-24T00:00Z", "2027-01-01T00:00Z", []],
  ])("from %s to %s contains every event that overlaps it", async ([from, to, found]) => {
    expect(await titles(site, { startTimestamp: Date.parse(from), endTimestamp: Date.parse(to) })).toEqual(found);
  });

  test("is required and validated", async () => {
    expect(await site.call("listCalendarEvents")).toMatchObject({ status: 400, fields: ["startTimestamp", "endTimestamp"] });
    const backwards = { startTimestamp: 2, endTimestamp: 1 };
    expect(await site.call("listCalendarEvents", { query: backwards })).toMatchObject({ status: 400, fields: ["endTimestamp"] });
    const noDay = { startTimestamp: "2026-02-30", endTimestamp: "2026-03-01" };
    expect(await site.call("listCalendarEvents", { query: noDay })).toMatchObject({ status: 400, fields: ["startTimestamp"] });
    const nowhere = { startTimestamp: "1", endTimestamp: "2", timeZone: "Mars/Olympus" };
    expect(await site.call("listCalendarEvents", { query: nowhere })).toMatchObject({ status: 400, fields: ["timeZone"] });
  });

  test("finds the same events as a filter over all of them", async () => {
    const db = createDb(siteStore);
    const slot = fc.record({ start: fc.integer({ min: 0, max: 60 }), hours: fc.integer({ min: 0, max: 30 }) });
    const range = fc.record({ from: fc.integer({ min: -5, max: 70 }), hours: fc.integer({ min: 1, max: 40 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(slot, { maxLength: 12 }), fc.array(range, { minLength: 1, maxLength: 4 }), async (slots, ranges) => {
        const own = await newSite();
        const at = (hour: number): number => Date.UTC(2026, 9, 24) + hour * HOUR;
        const rows = slots.map(({ start, hours }, index) => ({
          id: newId(1),
          siteId: own.id,
          title: `${index}`,
          description: "",
          categories: [],
          date: { startTimestamp: at(start), endTimestamp: at(start + hours), timeZone: "UTC", useEndTime: hours > 0 },
          startsAt: at(start),
          endsAt: at(start + hours),
          created: 1,
          modified: 1,
        }));
        for (const row of rows) await db.insert(calendarEvents).values(row);
        for (const { from, hours } of ranges) {
          const [start, end] = [at(from), at(from + hours)];
          const inside = rows.filter((row) => row.startsAt < end && (row.endsAt > start || row.startsAt >= start));
          const found = await titles(own, { startTimestamp: start, endTimestamp: end });
          expect(found.sort()).toEqual(inside.map((row) => row.title).sort());
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe("a day", () => {
  test("on which clocks go back has 25 hours, and each event falls on exactly one day", async () => {
    const site = await newSite();
    const hours = Array.from({ length: 49 }, (_, hour) => new Date(Date.parse("2026-10-24T22:00Z") + hour * HOUR).toISOString());
    for (const hour of hours) await create(site, hour, hour);
    const day = (startTimestamp: string) => titles(site, { startTimestamp, endTimestamp: startTimestamp, timeZone: "Europe/London" });
    expect(await day("2026-10-25")).toEqual(hours.slice(1, 26));
    expect(await day("2026-10-24")).toEqual(hours.slice(0, 1));
    expect(await day("2026-10-26")).toEqual(hours.slice(26));
  });

  test("depends on the time zone", async () => {
    const site = await newSite();
    await create(site, "derby", "2026-11-21T23:30Z");
    const on = (day: string, timeZone: string) => titles(site, { startTimestamp: day, endTimestamp: day, timeZone });
    expect(await on("2026-11-21", "America/Los_Angeles")).toEqual(["derby"]);
    expect(await on("2026-11-22", "America/Los_Angeles")).toEqual([]);
    expect(await on("2026-11-22", "Pacific/Auckland")).toEqual(["derby"]);
    expect(await on("2026-11-21", "Pacific/Auckland")).toEqual([]);
  });
});

describe("the calendar list", () => {
  const all = { startTimestamp: "2026-01-01", endTimestamp: "2026-12-31" };
  let site: TestSite;

  beforeAll(async () => {
    site = await newSite();
    const [main] = site.channels;
    const [league, cup, women] = [
      { title: "Competition", label: "League" },
      { title: "Competition", label: "Cup" },
      { title: "Team", label: "Women" },
    ];
    await create(site, "A derby", "2026-11-21T15:00Z", undefined, { categories: [league], channelId: main, thirdPartyEventId: "f-1" });
    await create(site, "B cup tie", "2026-11-20T15:00Z", undefined, { categories: [cup, women], descriptionRaw: "Under lights" });
    await create(site, "C friendly", "2026-11-19T15:00Z", undefined, { categories: [{ title: "Team", label: "League" }] });
    await create(await newSite(), "On another site", "2026-11-19T15:00Z", undefined, { categories: [league] });
  });

  test("starts with the earliest event, and can be sorted and searched", async () => {
    expect(await titles(site, all)).toEqual(["C friendly", "B cup tie", "A derby"]);
    expect(await titles(site, { ...all, sortBy: "titleRaw" })).toEqual(["A derby", "B cup tie", "C friendly"]);
    expect(await titles(site, { ...all, search: "LIGHTS" })).toEqual(["B cup tie"]);
  });

  test("filters by category, label, channel and third-party id", async () => {
    expect(await titles(site, { ...all, category: "Competition" })).toEqual(["B cup tie", "A derby"]);
    expect(await titles(site, { ...all, category: "Competition", label: "League" })).toEqual(["A derby"]);
    expect(await titles(site, { ...all, label: "League" })).toEqual(["C friendly", "A derby"]);
    expect(await titles(site, { ...all, channelId: site.channels[0] })).toEqual(["A derby"]);
    expect(await titles(site, { ...all, thirdPartyEventId: "f-1" })).toEqual(["A derby"]);
  });

  test("continues where the previous page ended", async () => {
    const first = (await site.call("listCalendarEvents", { query: { ...all, limit: 2 } })).as(CalendarEventList);
    const next = new URLSearchParams(first.pagination.next?.split("?")[1]);
    expect(await titles(site, Object.fromEntries(next))).toEqual(["A derby"]);
    expect(first.pagination.totalCount).toBe(3);
  });

  test("of categories counts their events, and that of filters includes their labels", async () => {
    const categories = (await site.call("listCalendarCategories")).as(listOf(CategoryCount));
    expect(categories.results).toEqual([
      { title: "Competition", events: 2 },
      { title: "Team", events: 2 },
    ]);
    expect(categories.pagination.totalCount).toBe(2);
    const filters = (await site.call("listCalendarFilters")).as(listOf(CalendarFilter)).results;
    expect(filters.map(({ title, labels }) => [title, labels.sort()])).toEqual([
      ["Competition", ["Cup", "League"]],
      ["Team", ["League", "Women"]],
    ]);
  });

  test("of categories is paginated by title", async () => {
    const first = (await site.call("listCalendarCategories", { query: { limit: 1 } })).as(listOf(CategoryCount));
    const query = Object.fromEntries(new URLSearchParams(first.pagination.next?.split("?")[1]));
    expect((await site.call("listCalendarCategories", { query })).as(listOf(CategoryCount))).toMatchObject({
      results: [{ title: "Team", events: 2 }],
      pagination: { totalCount: 2, next: null },
    });
  });

  test("of labels contains those of one category", async () => {
    const labels = async (categoryTitle: string) =>
      (await site.call("listCalendarLabels", { params: { categoryTitle } })).as(listOf(LabelCount)).results;
    expect(await labels("Competition")).toEqual([
      { label: "Cup", events: 1 },
      { label: "League", events: 1 },
    ]);
    expect(await labels("Unknown")).toEqual([]);
  });

  test("of labels follows changes to the events", async () => {
    const own = await newSite();
    const created = await create(own, "Derby", "2026-11-21T15:00Z", undefined, { categories: [{ title: "Kind & kin", label: "Old" }] });
    const labels = async () =>
      (await own.call("listCalendarLabels", { params: { categoryTitle: "Kind & kin" } })).as(listOf(LabelCount)).results;
    expect(await labels()).toEqual([{ label: "Old", events: 1 }]);
    const params = { id: created.as(CalendarEvent)._id };
    const body = { titleRaw: "Derby", date: { startTimestamp: 1 }, categories: [{ title: "Kind & kin", label: "New" }] };
    await own.call("updateCalendarEvent", { params, body });
    expect(await labels()).toEqual([{ label: "New", events: 1 }]);
    await own.call("deleteCalendarEvent", { params });
    expect(await labels()).toEqual([]);
  });
});
