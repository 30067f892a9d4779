import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { broadcasts as broadcastTable } from "#db/schema/index.ts";
import { type Caller, countsViewers, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import type { ServerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { runEffects } from "#worker/services/event-catalogue/effects.ts";
import { channelOf, presenceOf } from "#worker/services/realtime/realtime.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { ActiveBroadcast, BroadcastAnswer, ClearAnswer, Overlay } from "#worker/services/overlays/schemas.ts";

const BroadcastList = listOf(ActiveBroadcast);

let site: TestSite;
let channel: string;
let other: string;

beforeAll(async () => {
  site = await newSite();
  [channel, other] = site.channels;
});

const html = { kind: "html", html: "<b>Goal!</b> {{scorer}}", position: "bottomCenter", variables: { scorer: "Nobody" } };

async function newOverlay(change: Record<string, unknown> = {}, on = site): Promise<string> {
  const body = { name: "Goal", description: "", siteId: on.id, type: "template", duration: 60, contents: [html], ...change };
  return (await on.call("createOverlay", { body })).as(Overlay)._id;
}

async function send(id: string, body: Record<string, unknown> = {}, on = site) {
  return (await on.call("broadcastOverlay", { params: { id }, body })).as(BroadcastAnswer).broadcasts;
}

const sendToTag = (id: string, tagId: string, body: Record<string, unknown>, as: Caller) =>
  site.call("broadcastOverlayToTag", { params: { id, tagId }, body, as });

async function active(query: Record<string, string> = {}, on = site) {
  return (await on.call("listBroadcasts", { query })).as(BroadcastList).results;
}

async function clear(body: Record<string, unknown> | undefined, query: Record<string, string> = {}, on = site) {
  return (await on.call("clearBroadcasts", { body, query })).as(ClearAnswer).cleared;
}

describe("a broadcast", () => {
  test("reaches the viewers of its channel as the answer says", async () => {
    const cta = { type: "open_link", data: { url: "https://demo.example" } };
    const id = await newOverlay({ cta });
    const [here, elsewhere] = [await openSocket(site, channel), await openSocket(site, other)];
    const [sent] = await send(id, { channelId: channel, duration: 5, priority: 3, variables: { scorer: "Ada Moreno" }, timecode: 12.5 });
    expect(sent).toMatchObject({ channelId: channel, seq: 1 });
    expect((sent?.endsAt ?? 0) - (sent?.startsAt ?? 0)).toBe(5000);
    expect(await here.first("overlay.show")).toMatchObject({
      ...{
        broadcastId: sent?.broadcastId,
        overlayId: id,
        seq: 1,
        startsAt: sent?.startsAt,
        endsAt: sent?.endsAt,
        priority: 3,
        timecode: 12.5,
        cta,
      },
      contents: [{ kind: "html", html: "<b>Goal!</b> Ada Moreno", position: "bottomCenter" }],
      variables: { scorer: "Ada Moreno" },
    });
    await send(id, { channelId: other });
    const first = await elsewhere.first("overlay.show");
    expect(first.broadcastId).not.toBe(sent?.broadcastId);
  });

  test("escapes what fills its variables", async () => {
    const id = await newOverlay({ contents: [{ ...html, html: '<i title="{{a}}">{{{b}}} {{ c }}</i>' }] });
    const own = await site.addChannel("escapes");
    await send(id, { channelId: own, variables: { a: '"><script>', b: "<img onerror='x'>", c: "a & b" } });
    const shown = await (await openSocket(site, own)).first("welcome");
    expect(shown.overlays[0]?.contents[0]).toMatchObject({
      html: '<i title="&quot;&gt;&lt;script&gt;">&lt;img onerror&#61;&#39;x&#39;&gt; a &amp; b</i>',
    });
  });

  test("without a duration takes the overlay's own, and an instance's variables under its own", async () => {
    const own = await site.addChannel("durations");
    const contents = [{ ...html, html: "{{scorer}} {{minute}}", variables: { scorer: "Nobody", minute: 1 } }];
    const id = await newOverlay({ type: "instance", duration: 30, contents });
    const [sent] = await send(id, { channelId: own, variables: { scorer: "Ada" } });
    expect((sent?.endsAt ?? 0) - (sent?.startsAt ?? 0)).toBe(30_000);
    const { overlays } = await (await openSocket(site, own)).first("welcome");
    expect(overlays[0]?.contents[0]).toMatchObject({ html: "Ada 1" });
  });

  test("goes to several channels, to each once", async () => {
    const id = await newOverlay();
    const sent = await send(id, { channelIds: [channel, other, channel] });
    expect(sent.map(({ channelId }) => channelId).sort()).toEqual([channel, other].sort());
    expect(new Set(sent.map(({ broadcastId }) => broadcastId)).size).toBe(1);
  });

  test("goes to the channels whose metadata matches in any of five fields, and to none when none does", async () => {
    const own = await newSite();
    const fifth = await own.addChannel("fifth", { external_field_5: "match-7" });
    const id = await newOverlay({}, own);
    expect((await send(id, { pageMetadata: "match-7" }, own)).map(({ channelId }) => channelId).sort()).toEqual(
      [own.channels[0], fifth].sort(),
    );
    expect(await send(id, { pageMetadata: "match" }, own)).toEqual([]);
  });

  test("of an instance goes to the instance's channels, and a request that names another is rejected", async () => {
    const id = await newOverlay({ type: "instance", contents: [{ ...html, channels: [other] }, html] });
    const reached = async (body: Record<string, unknown>) => (await send(id, body)).map(({ channelId }) => channelId);
    expect(await reached({})).toEqual([other]);
    expect(await reached({ channelId: other })).toEqual([other]);
    const rejected = async (body: Record<string, unknown>) => {
      const { status, fields } = await site.call("broadcastOverlay", { params: { id }, body });
      return [status, fields];
    };
    expect(await rejected({ channelId: channel })).toEqual([400, ["channelId"]]);
    expect(await rejected({ channelIds: [other, channel] })).toEqual([400, ["channelIds.1"]]);
    // Of the channels that match, only those that the instance lists; match-7 is in a field of the first channel.
    expect(await reached({ pageMetadata: "match-7" })).toEqual([]);
    const tagged = await site.call("broadcastOverlayToTag", { params: { id, tagId: "team:home" }, body: { channelId: channel } });
    expect([tagged.status, tagged.fields]).toEqual([400, ["channelId"]]);
    const template = await newOverlay({ contents: [{ ...html, channels: [other] }] });
    await send(template);
    expect((await active({ sortBy: "startsAt", sortDirection: "-1", limit: "1" }))[0]).toMatchObject({
      overlayId: template,
      channelId: null,
    });
  });

  test("to the whole site reaches channels that are open and those that open later", async () => {
    const own = await newSite();
    const early = await openSocket(own, own.channels[0]);
    await countsViewers(own, 1);
    const sent = await send(await newOverlay({}, own), {}, own);
    expect(sent.map(({ channelId }) => channelId)).toEqual([own.channels[0]]);
    const { broadcastId } = await early.first("overlay.show");
    const late = await (
      await openSocket(own, own.channels[1])
    ).when((frame) => frame.type === "overlay.show" || (frame.type === "welcome" && frame.overlays.length > 0));
    expect(JSON.stringify(late)).toContain(broadcastId);
    expect(await active({}, own)).toMatchObject([{ broadcastId, channelId: null, except: [] }]);
  });

  test("is refused to channels that the site does not have, and no part of it is sent", async () => {
    const foreign = await newSite();
    const id = await newOverlay();
    const before = await active();
    for (const channelId of [foreign.channels[0], newId(1)]) {
      const response = await site.call("broadcastOverlay", { params: { id }, body: { channelIds: [channel, channelId] } });
      expect(response.problem).toMatchObject({ status: 404, message: "Channel not found" });
    }
    expect(await active()).toEqual(before);
  });

  test.for<[field: string, body: Record<string, unknown>]>([
    ["duration", { duration: 0 }],
    ["duration", { duration: 86_401 }],
    ["channelIds", { channelIds: [] }],
    ["channelIds", { channelIds: Array.from({ length: 51 }, () => newId(1)) }],
    ["channelIds.0", { channelIds: ["main-stage"] }],
    ["channelIds", { channelId: newId(1), channelIds: [newId(1)] }],
    ["tagId", { tagId: "home" }],
    ["timecode", { timecode: -1 }],
    ["priority", { priority: 101 }],
    ["variables.name", { variables: { name: null } }],
    ["pageMetadata", { pageMetadata: "" }],
  ])("refuses a wrong %s %#", async ([field, body]) => {
    const id = await newOverlay();
    expect(await site.call("broadcastOverlay", { params: { id }, body })).toMatchObject({ status: 400, fields: [field] });
  });
});

describe("a broadcast to a tag", () => {
  test("reaches viewers whose account has the tag, and nobody else", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const ticket = async (as: Caller) => (await own.call("createTicket", { as, body: { channelId } })).as(Ticket).ticket;
    const fan = await openSocket(own, channelId, { ticket: await ticket("viewer") });
    const [anonymous, untagged] = [await openSocket(own, channelId), await openSocket(own, channelId, { ticket: await ticket("creator") })];
    const id = await newOverlay({}, own);
    const toTag = await own.call("broadcastOverlayToTag", { params: { id, tagId: "team:home" }, body: { channelId } });
    const [tagged] = toTag.as(BroadcastAnswer).broadcasts;
    const [all] = await send(id, { channelId }, own);
    expect(await fan.first("overlay.show")).toMatchObject({ broadcastId: tagged?.broadcastId, segment: { tags: ["team:home"] } });
    for (const viewer of [anonymous, untagged]) expect((await viewer.first("overlay.show")).broadcastId).toBe(all?.broadcastId);
    expect(await active({ channelId, sortBy: "startsAt" }, own)).toMatchObject([{ tagId: "team:home" }, { tagId: null }]);
  });

  test.for(["team", "team:", ":home", "team:Home", "te4m:home", "team:home:away", "team home:x", "team:ho me"])(
    "refuses the tag %j",
    async (tagId) => {
      expect(await sendToTag(await newOverlay(), tagId, {}, "developer")).toMatchObject({ status: 400, fields: ["tagId"] });
    },
  );

  test.for(["team:home", "TEAM:home", "my-team:under_17-b"])("takes the tag %j", async (tagId) => {
    expect((await sendToTag(await newOverlay(), tagId, { channelId: channel }, "developer")).status).toBe(200);
  });

  test("asks creators for a channel, which must be theirs; admins may leave it out", async () => {
    const id = await newOverlay();
    const missing = await sendToTag(id, "team:home", {}, "creator");
    expect(missing).toMatchObject({ status: 400, fields: ["channelId"] });
    expect((await sendToTag(id, "team:home", { channelId: other }, "creator")).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await sendToTag(id, "team:home", { channelId: channel }, "creator")).status).toBe(200);
    expect((await sendToTag(id, "team:home", {}, "admin")).status).toBe(200);
  });
});

describe("what is on", () => {
  test("is listed until it ends or is cleared", async () => {
    const own = await newSite();
    const id = await newOverlay({}, own);
    const [ended] = await send(id, { channelId: own.channels[0] }, own);
    const [cleared] = await send(id, { channelId: own.channels[0] }, own);
    const [lasting] = await send(id, { channelId: own.channels[0] }, own);
    await createDb(env.DB)
      .update(broadcastTable)
      .set({ endsAt: Date.now() - 1 })
      .where(eq(broadcastTable.id, ended?.broadcastId ?? ""));
    await clear({ broadcastId: cleared?.broadcastId }, {}, own);
    expect(await active({}, own)).toMatchObject([
      { broadcastId: lasting?.broadcastId, channelId: own.channels[0], overlayId: id, timecode: null },
    ]);
    expect(await active({ channelId: own.channels[1] }, own)).toEqual([]);
    expect(await active({ channelId: own.channels[0] }, await newSite())).toEqual([]);
  });
});

describe("clearing", () => {
  test("of one broadcast takes it off the screens and leaves the others", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const viewer = await openSocket(own, channelId);
    const id = await newOverlay({}, own);
    const [first] = await send(id, { channelId }, own);
    const [second] = await send(id, { channelId }, own);
    const [cleared] = await clear({ broadcastId: first?.broadcastId }, {}, own);
    expect(cleared).toEqual({ channelId, seq: 3, broadcastIds: [first?.broadcastId] });
    expect(await viewer.first("overlay.clear")).toMatchObject({ seq: 3, broadcastIds: [first?.broadcastId] });
    expect((await active({}, own)).map(({ broadcastId }) => broadcastId)).toEqual([second?.broadcastId]);
    const again = await own.call("clearBroadcasts", { body: { broadcastId: first?.broadcastId } });
    expect(again.problem).toMatchObject({ status: 404, message: "No such broadcast is on" });
  });

  test("of one that has ended takes it from viewers whose picture is behind, if it has a timecode", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const viewer = await openSocket(own, channelId);
    const id = await newOverlay({}, own);
    const [held] = await send(id, { channelId, duration: 1, timecode: 90 }, own);
    const [plain] = await send(id, { channelId, duration: 1 }, own);
    const ended = (sent: typeof held) => (frame: ServerFrame) =>
      frame.type === "overlay.clear" && frame.ended === true && frame.broadcastIds.includes(sent?.broadcastId ?? "");
    await Promise.all([viewer.when(ended(held)), viewer.when(ended(plain))]);
    expect(await active({}, own)).toEqual([]);
    expect(await clear({ broadcastId: held?.broadcastId }, {}, own)).toMatchObject([{ channelId, broadcastIds: [held?.broadcastId] }]);
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.ended === undefined);
    expect(await own.call("clearBroadcasts", { body: { broadcastId: plain?.broadcastId } })).toMatchObject({ status: 404 });
  });

  test("of one timecode instance needs its id", async () => {
    const own = await site.addChannel("timecodes");
    const [sent] = await send(await newOverlay(), { channelId: own, timecode: 90 });
    const id = sent?.broadcastId ?? "";
    const halves: Record<string, string | boolean>[] = [{ timecode: true }, { id }, { id, timecode: false }];
    for (const query of halves) {
      expect(await site.call("clearBroadcasts", { query })).toMatchObject({ status: 400, fields: ["id"] });
    }
    const cleared = await clear(undefined, { timecode: "true", id });
    expect(cleared).toMatchObject([{ channelId: own, broadcastIds: [sent?.broadcastId] }]);
  });

  test("of a channel leaves the other channels alone", async () => {
    const own = await newSite();
    const id = await newOverlay({}, own);
    const sent = await send(id, { channelIds: own.channels }, own);
    const cleared = (await own.call("clearChannelBroadcasts", { params: { targetId: own.channels[0] } })).as(ClearAnswer).cleared;
    expect(cleared).toMatchObject([{ channelId: own.channels[0], broadcastIds: [sent[0]?.broadcastId] }]);
    expect((await active({}, own)).map(({ channelId }) => channelId)).toEqual([own.channels[1]]);
  });

  test("of a channel takes a site-wide broadcast off there alone", async () => {
    const own = await newSite();
    const [here, there] = [await openSocket(own, own.channels[0]), await openSocket(own, own.channels[1])];
    await countsViewers(own, 2);
    await send(await newOverlay({}, own), {}, own);
    const { broadcastId } = await here.first("overlay.show");
    expect(await clear({ channelId: own.channels[0] }, {}, own)).toMatchObject([
      { channelId: own.channels[0], broadcastIds: [broadcastId] },
    ]);
    expect((await here.first("overlay.clear")).broadcastIds).toEqual([broadcastId]);
    expect(there.frames.filter((frame) => frame.type === "overlay.clear")).toEqual([]);
    expect(await active({}, own)).toMatchObject([{ broadcastId, channelId: null, except: [own.channels[0]] }]);
    expect(await active({ channelId: own.channels[0] }, own)).toEqual([]);
    expect(await active({ channelId: own.channels[1] }, own)).toMatchObject([{ broadcastId }]);
    const late = await openSocket(own, own.channels[0]);
    expect((await late.first("welcome")).overlays).toEqual([]);
  });

  test("of the whole site takes everything off, also where a channel opens later", async () => {
    const own = await newSite();
    const viewer = await openSocket(own, own.channels[0]);
    await countsViewers(own, 1);
    const id = await newOverlay({}, own);
    await send(id, {}, own);
    await send(id, { channelId: own.channels[0] }, own);
    const cleared = await clear(undefined, {}, own);
    expect(cleared.flatMap(({ broadcastIds }) => broadcastIds)).toHaveLength(2);
    expect((await viewer.first("overlay.clear")).broadcastIds).toHaveLength(2);
    expect(await active({}, own)).toEqual([]);
    expect((await (await openSocket(own, own.channels[1])).first("welcome")).overlays).toEqual([]);
  });

  test("of a channel and of everything takes back what a channel that was out of reach has yet to be sent", async () => {
    const own = await newSite();
    const [first, second] = own.channels;
    const id = await newOverlay({}, own);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("out of reach"));
    onTestFinished(() => publish.mockRestore());
    const late: { channelId: string; broadcast: Broadcast | undefined }[] = [];
    for (const channelId of [first, second]) {
      const asked = publish.mock.calls.length;
      expect((await own.call("broadcastOverlay", { params: { id }, body: { channelId, variables: { scorer: channelId } } })).status).toBe(
        503,
      );
      const calls = publish.mock.calls.slice(asked).map(([broadcast]) => broadcast);
      late.push({ channelId, broadcast: calls.find(({ variables }) => variables.scorer === channelId) });
    }
    await clear({ channelId: first }, {}, own);
    await clear(undefined, {}, own);
    publish.mockRestore();
    for (const { channelId, broadcast } of late) {
      if (!broadcast) throw new Error("The channel was not asked");
      await channelOf(env, own.id, channelId).publish(broadcast);
      expect((await (await openSocket(own, channelId)).first("welcome")).overlays).toEqual([]);
    }
  });

  test("of everything takes back what the site has yet to be sent", async () => {
    const own = await newSite();
    const publish = vi.spyOn(SitePresence.prototype, "publish").mockRejectedValue(new Error("out of reach"));
    onTestFinished(() => publish.mockRestore());
    const id = await newOverlay({}, own);
    expect((await own.call("broadcastOverlay", { params: { id }, body: {} })).status).toBe(503);
    const late = publish.mock.lastCall?.[0];
    if (!late) throw new Error("The site was not asked");
    await clear(undefined, {}, own);
    publish.mockRestore();
    await presenceOf(env, own.id).publish(late);
    expect((await (await openSocket(own, own.channels[0])).first("welcome")).overlays).toEqual([]);
  });

  test("holds for what the log has yet to send, before the channel has heard of it", async () => {
    const own = await newSite();
    const [channelId, elsewhere] = own.channels;
    const id = await newOverlay({}, own);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("out of reach"));
    const clearing = vi.spyOn(Channel.prototype, "clear").mockRejectedValue(new Error("out of reach"));
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    expect((await own.call("broadcastOverlay", { params: { id }, body: { channelIds: own.channels } })).status).toBe(503);
    const broadcast = publish.mock.calls.map(([sent]) => sent).find(({ overlayId }) => overlayId === id);
    expect((await own.call("clearChannelBroadcasts", { params: { targetId: channelId }, body: {} })).status).toBe(503);
    expect(clearing).toHaveBeenCalled();
    publish.mockRestore();
    const event = { type: "overlay.broadcast", resource: `overlay/${id}`, data: JSON.stringify({ channelIds: own.channels, broadcast }) };
    const entry = { id: newId(1), sequence: 1, previousSequence: null, actor: "system", requestId: "test", origin: null, created: 1 };
    await runEffects(env, own.id, { ...entry, ...event });
    expect(await channelOf(env, own.id, channelId).active()).toEqual([]);
    expect(await channelOf(env, own.id, elsewhere).active()).toHaveLength(1);
  });

  test("by a body that names a broadcast of another site finds none", async () => {
    const foreign = await newSite();
    const [sent] = await send(await newOverlay({}, foreign), { channelId: foreign.channels[0] }, foreign);
    expect((await site.call("clearBroadcasts", { body: { broadcastId: sent?.broadcastId } })).status).toBe(404);
    expect(
      (await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { broadcastId: sent?.broadcastId } })).status,
    ).toBe(404);
    expect(await active({}, foreign)).toHaveLength(1);
  });

  test("on a channel of a broadcast that is on another channel alone finds none", async () => {
    const [sent] = await send(await newOverlay(), { channelId: other });
    const response = await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { broadcastId: sent?.broadcastId } });
    expect(response.problem).toMatchObject({ status: 404, message: "No such broadcast is on" });
  });

  test("refuses a body that names another channel than the path", async () => {
    const response = await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { channelId: other } });
    expect(response).toMatchObject({ status: 400, fields: ["channelId"] });
  });
});
