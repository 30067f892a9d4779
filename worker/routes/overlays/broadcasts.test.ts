import { beforeAll, describe, expect, test } from "vitest";
import { type Caller, waitForViewerCount, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { newId } from "#worker/lib/ids.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { BroadcastAnswer } from "#worker/services/overlays/schemas.ts";
import { broadcastCalls, html } from "#test/broadcasts.ts";

let site: TestSite;
let channel: string;
let other: string;

beforeAll(async () => {
  site = await newSite();
  [channel, other] = site.channels;
});

const { newOverlay, send, sendToTag, active } = broadcastCalls(() => site);

describe("a broadcast", () => {
  test("reaches the viewers of its channel as the response says", async () => {
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

  test("escapes the values of its variables", async () => {
    const id = await newOverlay({ contents: [{ ...html, html: '<i title="{{a}}">{{{b}}} {{ c }}</i>' }] });
    const own = await site.addChannel("escapes");
    await send(id, { channelId: own, variables: { a: '"><script>', b: "<img onerror='x'>", c: "a & b" } });
    const shown = await (await openSocket(site, own)).first("welcome");
    expect(shown.overlays[0]?.contents[0]).toMatchObject({
      html: '<i title="&quot;&gt;&lt;script&gt;">&lt;img onerror&#61;&#39;x&#39;&gt; a &amp; b</i>',
    });
  });

  test("defaults to the overlay's duration and to an instance's variables", async () => {
    const own = await site.addChannel("durations");
    const contents = [{ ...html, html: "{{scorer}} {{minute}}", variables: { scorer: "Nobody", minute: 1 } }];
    const id = await newOverlay({ type: "instance", duration: 30, contents });
    const [sent] = await send(id, { channelId: own, variables: { scorer: "Ada" } });
    expect((sent?.endsAt ?? 0) - (sent?.startsAt ?? 0)).toBe(30_000);
    const { overlays } = await (await openSocket(site, own)).first("welcome");
    expect(overlays[0]?.contents[0]).toMatchObject({ html: "Ada 1" });
  });

  test("is sent to several channels, once to each", async () => {
    const id = await newOverlay();
    const sent = await send(id, { channelIds: [channel, other, channel] });
    expect(sent.map(({ channelId }) => channelId).sort()).toEqual([channel, other].sort());
    expect(new Set(sent.map(({ broadcastId }) => broadcastId)).size).toBe(1);
  });

  test("is sent to the channels with matching metadata in any of five fields, and to none if none matches", async () => {
    const own = await newSite();
    const fifth = await own.addChannel("fifth", { external_field_5: "match-7" });
    const id = await newOverlay({}, own);
    expect((await send(id, { pageMetadata: "match-7" }, own)).map(({ channelId }) => channelId).sort()).toEqual(
      [own.channels[0], fifth].sort(),
    );
    expect(await send(id, { pageMetadata: "match" }, own)).toEqual([]);
  });

  test("of an instance is sent to the instance's channels, and a request for another one is rejected", async () => {
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
    // The first channel matches match-7 but isn't listed by the instance.
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

  test("to the whole site reaches open channels and those that open later", async () => {
    const own = await newSite();
    const early = await openSocket(own, own.channels[0]);
    await waitForViewerCount(own, 1);
    const sent = await send(await newOverlay({}, own), {}, own);
    expect(sent.map(({ channelId }) => channelId)).toEqual([own.channels[0]]);
    const { broadcastId } = await early.first("overlay.show");
    const late = await (
      await openSocket(own, own.channels[1])
    ).when((frame) => frame.type === "overlay.show" || (frame.type === "welcome" && frame.overlays.length > 0));
    expect(JSON.stringify(late)).toContain(broadcastId);
    expect(await active({}, own)).toMatchObject([{ broadcastId, channelId: null, except: [] }]);
  });

  test("is rejected for unknown channels, without a partial delivery", async () => {
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
    ["timecode", { timecode: Date.UTC(10_000, 0) / 1000 }],
    ["priority", { priority: 101 }],
    ["variables.name", { variables: { name: null } }],
    ["pageMetadata", { pageMetadata: "" }],
  ])("rejects an invalid %s %#", async ([field, body]) => {
    const id = await newOverlay();
    expect(await site.call("broadcastOverlay", { params: { id }, body })).toMatchObject({ status: 400, fields: [field] });
  });
});

describe("a broadcast to a tag", () => {
  test("reaches only viewers whose account has the tag", async () => {
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
    "rejects the tag %j",
    async (tagId) => {
      expect(await sendToTag(await newOverlay(), tagId, {}, "developer")).toMatchObject({ status: 400, fields: ["tagId"] });
    },
  );

  test.for(["team:home", "TEAM:home", "my-team:under_17-b"])("accepts the tag %j", async (tagId) => {
    expect((await sendToTag(await newOverlay(), tagId, { channelId: channel }, "developer")).status).toBe(200);
  });

  test("requires one of their own channels from creators, but not from admins", async () => {
    const id = await newOverlay();
    const missing = await sendToTag(id, "team:home", {}, "creator");
    expect(missing).toMatchObject({ status: 400, fields: ["channelId"] });
    expect((await sendToTag(id, "team:home", { channelId: other }, "creator")).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await sendToTag(id, "team:home", { channelId: channel }, "creator")).status).toBe(200);
    expect((await sendToTag(id, "team:home", {}, "admin")).status).toBe(200);
  });
});
