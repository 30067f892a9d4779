import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { CalendarEvent } from "#worker/services/events/schemas.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KICK_OFF = Date.UTC(2026, 10, 21, 15);
const date = { startTimestamp: KICK_OFF, endTimestamp: KICK_OFF + 2 * HOUR, timeZone: "Europe/London", useEndTime: true };
const CalendarEventList = listOf(CalendarEvent);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

function create(change: Record<string, unknown> = {}, on = site) {
  return on.call("createCalendarEvent", { body: { titleRaw: "Derby", date, ...change } });
}

function upsert(change: Record<string, unknown> = {}, on = site) {
  return on.call("upsertCalendarEvent", { body: { titleRaw: "Derby", date, thirdPartyEventId: "fixture-1", ...change } });
}

describe("a calendar event", () => {
  test("is returned as created, and can be read by its id", async () => {
    const input = {
      titleRaw: "Harbour City v Old Dock",
      descriptionRaw: "The derby",
      categories: [{ title: "Competition", label: "League" }],
      date,
      image: { show: false, src: `/media/v1/${newId(1)}` },
      thirdPartyEventId: "fixture-0",
      channelId: site.channels[0],
    };
    const created = await create(input);
    expect(created.as(CalendarEvent)).toMatchObject({ ...input, siteId: site.id });
    expect(created.log.d1.roundTrips).toBeLessThanOrEqual(2);
    const read = await site.call("getCalendarEvent", { params: { id: created.as(CalendarEvent)._id } });
    expect(read.body).toEqual(created.body);
    expect(read.headers.get("ETag")).toBe(created.headers.get("ETag"));
  });

  test.for(["https://a:b/x.png", "https://[/x.png", "https://%/x.png", "https://a:99999/"])(
    "rejects the invalid image URL %s",
    async (src) => {
      expect(await create({ image: { src } })).toMatchObject({ status: 400, fields: ["image.src"] });
    },
  );

  test("requires only a title and a start", async () => {
    const created = (await create({ date: { startTimestamp: KICK_OFF } })).as(CalendarEvent);
    expect(CalendarEvent.omit({ _id: true, created: true, modified: true }).parse(created)).toEqual({
      siteId: site.id,
      channelId: null,
      titleRaw: "Derby",
      descriptionRaw: "",
      categories: [],
      date: { startTimestamp: KICK_OFF, endTimestamp: null, timeZone: "UTC", useEndTime: false },
      image: null,
      thirdPartyEventId: null,
    });
  });

  test("uses its end time if one is given, unless useEndTime is false", async () => {
    expect((await create({ date: { ...date, useEndTime: undefined } })).as(CalendarEvent).date.useEndTime).toBe(true);
    expect((await create({ date: { ...date, useEndTime: false } })).as(CalendarEvent).date).toMatchObject({
      useEndTime: false,
      endTimestamp: date.endTimestamp,
    });
  });

  test("drops duplicate categories", async () => {
    const league = { title: "Competition", label: "League" };
    expect((await create({ categories: [league, { title: "Team", label: "Women" }, league] })).as(CalendarEvent).categories).toHaveLength(
      2,
    );
  });

  test.for<[field: string, change: Record<string, unknown>]>([
    ["siteId", { siteId: newId(2) }],
    ["titleRaw", { titleRaw: " " }],
    ["titleRaw", { titleRaw: "a".repeat(201) }],
    ["descriptionRaw", { descriptionRaw: "a".repeat(10_001) }],
    ["categories", { categories: Array.from({ length: 21 }, (_, i) => ({ title: "Team", label: `${i}` })) }],
    ["categories.0.label", { categories: [{ title: "Team", label: "" }] }],
    ["date.startTimestamp", { date: { ...date, startTimestamp: "2026-11-21" } }],
    ["date.startTimestamp", { date: { startTimestamp: -1 } }],
    ["date.startTimestamp", { date: { startTimestamp: Date.UTC(10_000, 0) } }],
    ["date.endTimestamp", { date: { ...date, endTimestamp: undefined } }],
    ["date.endTimestamp", { date: { ...date, endTimestamp: KICK_OFF } }],
    ["date.endTimestamp", { date: { ...date, endTimestamp: KICK_OFF - 1 } }],
    ["date.endTimestamp", { date: { ...date, endTimestamp: KICK_OFF + 366 * DAY + 1 } }],
    ["date.timeZone", { date: { ...date, timeZone: "Mars/Olympus" } }],
    ["date.timeZone", { date: { ...date, timeZone: "+01:00" } }],
    ["image.src", { image: { show: true, src: "javascript:alert(1)" } }],
    ["image.src", { image: { show: true, src: "/account/v3" } }],
    ["channelId", { channelId: "main-stage" }],
    ["thirdPartyEventId", { thirdPartyEventId: "" }],
  ])("rejects an invalid %s %#", async ([field, change]) => {
    expect(await create(change)).toMatchObject({ status: 400, fields: [field] });
  });

  test("rejects a channel that the site doesn't have", async () => {
    const foreign = await newSite();
    const landing = await site.call("createPage", { body: { type: "landing", slug: "home", data: { name: "Home" } } });
    const { _id } = CalendarEvent.pick({ _id: true }).parse(landing.body);
    for (const channelId of [newId(1), foreign.channels[0], _id]) expect((await create({ channelId })).status).toBe(404);
  });

  test("is replaced completely, with a new version", async () => {
    const response = await create({ descriptionRaw: "The derby", thirdPartyEventId: "fixture-9" });
    const { _id, created } = response.as(CalendarEvent);
    const changed = await site.call("updateCalendarEvent", { params: { id: _id }, body: { titleRaw: "Replay", date } });
    expect(changed.as(CalendarEvent)).toMatchObject({ _id, created, titleRaw: "Replay", descriptionRaw: "", thirdPartyEventId: null });
    expect(changed.headers.get("ETag")).not.toBe(response.headers.get("ETag"));
    expect((await site.call("getCalendarEvent", { params: { id: _id } })).body).toEqual(changed.body);
  });

  test("is neither changed nor deleted if it has changed since it was read", async () => {
    const created = await create({ thirdPartyEventId: "fixture-8" });
    const params = { id: created.as(CalendarEvent)._id };
    const headers = { "If-Match": created.headers.get("ETag") ?? "" };
    const body = { titleRaw: "Replay", date, thirdPartyEventId: "fixture-8" };
    expect((await site.call("updateCalendarEvent", { params, body, headers })).status).toBe(200);
    expect((await site.call("updateCalendarEvent", { params, body, headers })).status).toBe(412);
    expect((await site.call("upsertCalendarEvent", { body, headers })).status).toBe(412);
    expect((await site.call("deleteCalendarEvent", { params, headers })).status).toBe(412);
  });

  test("is gone once deleted, and the event log has each change", async () => {
    const own = await newSite();
    const params = { id: (await create({}, own)).as(CalendarEvent)._id };
    await own.call("updateCalendarEvent", { params, body: { titleRaw: "Replay", date } });
    const gone = await own.call("deleteCalendarEvent", { params });
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await own.call("getCalendarEvent", { params })).status).toBe(404);
    expect((await own.call("deleteCalendarEvent", { params })).status).toBe(404);
    const log = (await own.call("listEvents")).as(EventList).results;
    expect(log.map(({ type, resource }) => [type, resource])).toEqual(
      ["created", "updated", "deleted"].map((change) => [`event.${change}`, `event/${params.id}`]),
    );
  });
});

describe("a third-party event", () => {
  test("is created the first time, and replaced afterwards", async () => {
    const own = await newSite();
    const first = await upsert({}, own);
    const second = await upsert({ titleRaw: "Replay", categories: [{ title: "Competition", label: "Cup" }] }, own);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.as(CalendarEvent)).toMatchObject({ _id: first.as(CalendarEvent)._id, titleRaw: "Replay" });
    expect(second.log.d1.roundTrips).toBeLessThanOrEqual(3);
    expect((await own.call("getCalendarEvent", { params: { id: first.as(CalendarEvent)._id } })).body).toEqual(second.body);
  });

  test("is created once, however many upserts arrive at the same time", async () => {
    const own = await newSite();
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, i) => upsert({ titleRaw: `Title ${i}`, categories: [{ title: "Attempt", label: `${i}` }] }, own)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array<number>(11).fill(200), 201]);
    const query = { startTimestamp: 0, endTimestamp: KICK_OFF + DAY };
    const [event, ...others] = (await own.call("listCalendarEvents", { query })).as(CalendarEventList).results;
    expect(others).toEqual([]);
    const labels = await own.call("listCalendarLabels", { params: { categoryTitle: "Attempt" } });
    expect(labels.body).toMatchObject({ results: [{ label: event?.categories[0]?.label, events: 1 }] });
  });

  test("has an id that is unique per site", async () => {
    const [own, other] = [await newSite(), await newSite()];
    await upsert({}, own);
    expect(await create({ thirdPartyEventId: "fixture-1" }, own)).toMatchObject({ status: 409, problem: { code: "conflict" } });
    const second = (await create({}, own)).as(CalendarEvent)._id;
    const body = { titleRaw: "Derby", date, thirdPartyEventId: "fixture-1" };
    expect((await own.call("updateCalendarEvent", { params: { id: second }, body })).status).toBe(409);
    expect((await upsert({}, other)).status).toBe(201);
  });

  test("requires a thirdPartyEventId", async () => {
    expect(await upsert({ thirdPartyEventId: undefined })).toMatchObject({ status: 400, fields: ["thirdPartyEventId"] });
  });
});

describe("a creator", () => {
  test("creates, updates and deletes events of their channel", async () => {
    const [channelId] = site.channels;
    const body = { titleRaw: "Derby", date, channelId };
    const created = await site.call("createCalendarEvent", { body, as: "creator" });
    const params = { id: created.as(CalendarEvent)._id };
    expect((await site.call("updateCalendarEvent", { params, body: { ...body, titleRaw: "Replay" }, as: "creator" })).status).toBe(200);
    expect((await site.call("deleteCalendarEvent", { params, as: "creator" })).status).toBe(204);
  });

  test("can't change events of the site or of other channels, nor move events there", async () => {
    const [own, other] = site.channels;
    for (const channelId of [null, other]) {
      const body = { titleRaw: "Derby", date, channelId };
      expect((await site.call("createCalendarEvent", { body, as: "creator" })).status).toBe(403);
      const params = { id: (await create(body)).as(CalendarEvent)._id };
      expect((await site.call("updateCalendarEvent", { params, body: { ...body, channelId: own }, as: "creator" })).status).toBe(403);
      expect((await site.call("deleteCalendarEvent", { params, as: "creator" })).status).toBe(403);
      const mine = { id: (await create({ channelId: own })).as(CalendarEvent)._id };
      expect((await site.call("updateCalendarEvent", { params: mine, body, as: "creator" })).status).toBe(403);
    }
  });

  test("can't take over a third-party event of another channel", async () => {
    const body = { titleRaw: "Derby", date, thirdPartyEventId: "fixture-7", channelId: site.channels[1] };
    await site.call("upsertCalendarEvent", { body });
    expect((await site.call("upsertCalendarEvent", { body: { ...body, channelId: site.channels[0] }, as: "creator" })).status).toBe(403);
  });
});
