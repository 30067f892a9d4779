import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { addSkus } from "#test/files-and-skus.ts";
import { broadcastCalls } from "#test/broadcasts.ts";
import { type CallOptions, newSite, type TestSite } from "#test/harness.ts";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RECORDING_OF, RECORDING_PAGE } from "#worker/durable-objects/channel/recording.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Question } from "#worker/services/qna/schemas.ts";
import { ChannelRecording } from "#worker/services/recordings/schemas.ts";

const KIT = { kind: "kit", position: "bottomLeft" };
const PERSONAL = [
  { ...KIT, template: "question", variables: { text: "Who starts?", name: "Vera" } },
  { ...KIT, template: "chat-message", variables: { text: "Come on!", name: "Vera" } },
];

let site: TestSite;
let overlayId: string;
const { newOverlay, send, sendToTag, clear } = broadcastCalls(() => site);

beforeAll(async () => {
  site = await newSite();
  overlayId = await newOverlay();
});

const HOUR = 3_600_000;
const read = (channelId: string, query: Record<string, unknown> = {}, options: CallOptions = {}) =>
  site.call("readRecording", { params: { channelId }, query: { from: Date.now() - HOUR, ...query }, as: "client", ...options });

async function recorded(channelId: string, query: Record<string, unknown> = {}) {
  return (await read(channelId, query)).as(ChannelRecording);
}

async function idsOf(channelId: string, query: Record<string, unknown> = {}) {
  return (await recorded(channelId, query)).results.map(({ broadcastId }) => broadcastId);
}

const newChannel = (data: Record<string, unknown> = {}) => site.addChannel(randomHex(6), data);

/** Sends a broadcast, and returns its id. */
async function show(channelId: string, fields: Record<string, unknown> = {}, id = overlayId): Promise<string> {
  return (await send(id, { channelId, ...fields }))[0]?.broadcastId ?? "";
}

const retract = (channelId: string, broadcastId: string, options: CallOptions = {}) =>
  site.call("retractBroadcast", { params: { channelId, broadcastId }, ...options });

/** Moves what a channel has recorded into the past, in ms. */
function shift(channelId: string, by: number): Promise<void> {
  const channel = env.CHANNEL.getByName(channelName(site.id, channelId));
  return runInDurableObject(channel, (_, { storage }) => {
    storage.sql.exec("UPDATE recording SET at = at - ?, ends = ends - ?", by, by);
  });
}

describe("a channel's recording", () => {
  test("has its broadcasts as the viewers received them, in order, long after their end", async () => {
    const channelId = await newChannel();
    const ids = [await show(channelId, { variables: { scorer: "Ada" } }), await show(channelId, { duration: 5 })];
    await shift(channelId, 48 * HOUR);
    const { results, next } = await recorded(channelId, { from: Date.now() - 49 * HOUR });
    expect([results.map(({ broadcastId }) => broadcastId), next]).toEqual([ids, null]);
    expect(results[0]).toMatchObject({ type: "overlay.show", overlayId, contents: [{ kind: "html", html: "<b>Goal!</b> Ada" }] });
    expect(results.map(({ startsAt, endsAt }) => endsAt - startsAt)).toEqual([60_000, 5_000]);
  });

  test("has what was on between two times, and nothing before or after", async () => {
    const channelId = await newChannel();
    const id = await show(channelId, { duration: 60 });
    await shift(channelId, 10 * HOUR);
    const from = ((await recorded(channelId, { from: 0 })).results[0]?.startsAt ?? 0) + 30_000;
    expect(await idsOf(channelId, { from })).toEqual([id]);
    expect(await idsOf(channelId, { from: from + 30_000 })).toEqual([]);
    expect(await idsOf(channelId, { from: from - HOUR, to: from - 30_000 })).toEqual([]);
  });

  test("is read page by page, each broadcast once, also those of the same moment", async () => {
    const channelId = await newChannel();
    const timecode = Math.floor(Date.now() / 1000) - 60;
    const ids = [await show(channelId, { timecode }), await show(channelId, { timecode }), await show(channelId)];
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: ChannelRecording = await recorded(channelId, { limit: 1, ...(cursor !== null && { cursor }) });
      seen.push(...page.results.map(({ broadcastId }) => broadcastId));
      cursor = page.next;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
  });

  test("places a broadcast with a timecode since 1970 at that time, and has none that is still to come", async () => {
    const channelId = await newChannel();
    const now = Math.floor(Date.now() / 1000);
    const past = await show(channelId, { timecode: now - 20 });
    const replay = await show(channelId, { timecode: 61.5 });
    await show(channelId, { timecode: now + 600 });
    const { results } = await recorded(channelId);
    expect(results.map(({ broadcastId }) => broadcastId)).toEqual([past, replay]);
    expect(results[0]?.startsAt).toBe((now - 20) * 1000);
    expect(results[1]?.timecode).toBe(61.5);
  });

  test("ends a broadcast when it was cleared", async () => {
    const channelId = await newChannel();
    await show(channelId);
    await clear({ channelId });
    const [cleared] = (await recorded(channelId, { from: 0 })).results;
    expect((cleared?.endsAt ?? 0) - (cleared?.startsAt ?? 0)).toBeLessThan(60_000);
  });

  test("doesn't have a broadcast that was retracted, whenever it was sent, and still has the others", async () => {
    const channelId = await newChannel();
    const [mistake, other] = [await show(channelId), await show(channelId)];
    await shift(channelId, 48 * HOUR);
    expect((await retract(channelId, mistake)).status).toBe(204);
    expect(await idsOf(channelId, { from: Date.now() - 49 * HOUR })).toEqual([other]);
  });

  test("has nothing that was sent to a tag or a segment, or on another channel", async () => {
    const channelId = await newChannel();
    await sendToTag(overlayId, "team:home", { channelId }, "developer");
    const userSegments = { vip: { name: "VIP", filter: { attribute: "country", operator: "any_of", value: ["BR"] } } };
    await site.call("updateSite", { body: { name: "Harbour City", settings: { security: {}, userSegments } } });
    await show(channelId, { segment: "vip" });
    await show(await newChannel());
    expect(await idsOf(channelId)).toEqual([]);
  });

  test("doesn't keep what viewers wrote", async () => {
    const channelId = await newChannel();
    for (const content of PERSONAL) await show(channelId, {}, await newOverlay({ contents: [content] }));
    const question = (await site.call("askQuestion", { params: { channelId }, as: "viewer", body: { text: "Who starts?" } })).as(Question);
    const { _id: id } = question;
    await site.call("decideQuestion", { params: { id }, body: { state: "approved" } });
    for (const kind of ["html", "kit"])
      expect((await site.call("broadcastQuestion", { params: { id }, body: { duration: 60, kind } })).status).toBe(200);
    expect(await idsOf(channelId)).toEqual([]);
  });

  test("is deleted with the channel", async () => {
    const channelId = await newChannel();
    await show(channelId);
    const channel = env.CHANNEL.getByName(channelName(site.id, channelId));
    await channel.end({ id: randomHex(12) });
    const left = await runInDurableObject(channel, (_, { storage }) => storage.sql.exec("SELECT seq FROM recording").toArray());
    expect(left).toEqual([]);
  });

  test("is read from its indexes, however long it is", async () => {
    const channel = env.CHANNEL.getByName(channelName(site.id, await newChannel()));
    const planOf = (query: string, ...values: (number | string)[]) =>
      runInDurableObject(channel, (_, { storage }) =>
        storage.sql
          .exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`, ...values)
          .toArray()
          .map(({ detail }) => detail),
      );
    expect(await planOf(RECORDING_PAGE, 0, 0, 1, 1, 1)).toEqual([
      expect.stringMatching(/^SEARCH recording USING INDEX recording_at \(.*at.*\)$/),
    ]);
    expect(await planOf(RECORDING_OF, "")).toEqual([expect.stringMatching(/^SEARCH recording USING .*INDEX recording_broadcast /)]);
  });
});

describe("whoever may not connect to the channel", () => {
  test("may not read its recording either", async () => {
    await addSkus(site, "season");
    const [gated, paid] = [
      await newChannel({ gate: { type: "login", skus: [] } }),
      await newChannel({ gate: { type: "entitlement", skus: ["season"] } }),
    ];
    for (const channelId of [gated, paid]) await show(channelId);
    const codes = async (channelId: string) =>
      Promise.all((["client", "viewer"] as const).map(async (as) => (await read(channelId, {}, { as })).problem?.code));
    expect(await codes(gated)).toEqual(["unauthenticated", undefined]);
    expect(await codes(paid)).toEqual(["unauthenticated", "forbidden"]);
    // Another viewer's page isn't shared with them.
    expect(await codes(gated)).toEqual(["unauthenticated", undefined]);
  });

  test("gets a 404 for a channel of another site", async () => {
    const other = await newSite();
    expect((await read(other.channels[0])).status).toBe(404);
  });
});

test("a recording's cursor, limit and times are validated", async () => {
  const [channelId] = site.channels;
  const invalid = [{ cursor: "1' or 1=1" }, { limit: 201 }, { from: "yesterday" }, { from: 2, to: 1 }];
  const fields = await Promise.all(invalid.map(async (query) => (await read(channelId, query)).fields));
  expect(fields).toEqual([["cursor"], ["limit"], ["from"], ["to"]]);
});
