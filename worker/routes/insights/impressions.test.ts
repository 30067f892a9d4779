import { beforeAll, describe, expect, test, vi } from "vitest";
import { broadcastCalls } from "#test/broadcasts.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { insightCalls } from "#test/insights.ts";
import { pollCalls } from "#test/polls.ts";
import { insightCounterName } from "#worker/durable-objects/insight-counter/insight-counter.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { Receipt } from "#worker/services/overlays/schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";

let site: TestSite;
let foreign: TestSite;

beforeAll(async () => {
  [site, foreign] = [await newSite(), await newSite()];
});

const { report, flush, writes, counterOf, sums, reach } = insightCalls(() => site);
const { newOverlay, send } = broadcastCalls(() => site);
const { newPoll } = pollCalls(() => site);

async function newPanel(on = site): Promise<string> {
  const body = { siteId: on.id, renderer: { panel_type: "image", panel_name: "Sponsor", image_url: "https://demo.example/crest.png" } };
  return (await on.call("createPanel", { body })).as(Panel)._id;
}

describe("reported impressions", () => {
  test("are counted by channel and kind, once written", async () => {
    const channelId = await site.addChannel("counted");
    const [overlay, panel, poll] = [await newOverlay(), await newPanel(), await newPoll()];
    const entries = [
      { kind: "overlay.shown", id: overlay },
      { kind: "overlay.cta", id: overlay },
      { kind: "panel.shown", id: panel },
      { kind: "panel.open", id: panel },
      { kind: "poll.shown", id: poll._id },
    ];
    for (const deviceId of ["phone", "tv", "tablet"]) expect((await report(entries, { channelId, deviceId })).status).toBe(204);
    expect(await sums(channelId)).toMatchObject({ impressions: 0 });
    await flush();
    const counted = { overlayImpressions: 3, panelImpressions: 3, pollImpressions: 3, questImpressions: 0, impressions: 9 };
    expect(await sums(channelId)).toMatchObject({ ...counted, callsToAction: 3, panelOpens: 3, videoPlays: 0, actions: 6 });
    expect(await reach({ channelId })).toEqual(
      expect.arrayContaining([
        { kind: "overlay", id: overlay, shown: 3, used: 3 },
        { kind: "panel", id: panel, shown: 3, used: 3 },
        { kind: "poll", id: poll._id, shown: 3, used: 0 },
      ]),
    );
  });

  test("count for as many viewers as their weight", async () => {
    const channelId = await site.addChannel("weighted");
    const entry = { kind: "overlay.shown", id: await newOverlay() };
    await report([entry], { channelId, weight: 40 });
    await report([entry], { channelId });
    await flush();
    expect(await sums(channelId)).toMatchObject({ overlayImpressions: 41 });
  });

  test("of things and channels that the site doesn't have are dropped, and the others counted", async () => {
    const channelId = await site.addChannel("strict");
    const [own, theirs] = [await newOverlay(), await newOverlay({}, foreign)];
    const entries = [own, theirs, newId(1)].map((id) => ({ kind: "overlay.shown", id }));
    const wrongKind = { kind: "panel.shown", id: own };
    for (const place of [channelId, foreign.channels[0], newId(2)])
      expect((await report([...entries, wrongKind], { channelId: place })).status).toBe(204);
    await flush();
    expect(await sums(channelId)).toMatchObject({ impressions: 1, overlayImpressions: 1 });
    expect(await sums(foreign.channels[0], foreign)).toMatchObject({ impressions: 0 });
    expect(await reach({ channelId })).toEqual([{ kind: "overlay", id: own, shown: 1, used: 0 }]);
  });

  test("aren't counted while the site has switched collecting off, and its pages say so", async () => {
    const quiet = await newSite();
    const entry = { kind: "overlay.shown", id: await newOverlay({}, quiet) };
    const configure = async (collect: boolean) => {
      const body = { name: "Quiet", settings: { insights: { collect } } };
      expect((await quiet.call("updateSite", { body })).status).toBe(200);
      return (await quiet.call("getConfiguration", { params: { pageId: quiet.channels[0] } })).body;
    };
    expect(await configure(false)).toMatchObject({ insights: { collect: false } });
    expect((await report([entry], {}, quiet)).status).toBe(204);
    await flush("local", quiet);
    expect(await sums(quiet.channels[0], quiet)).toMatchObject({ impressions: 0 });
    expect(await configure(true)).toMatchObject({ insights: { collect: true } });
    await report([entry], {}, quiet);
    await flush("local", quiet);
    expect(await sums(quiet.channels[0], quiet)).toMatchObject({ impressions: 1 });
  });

  test("of a broadcast are the `seen` of its receipt, on its own channel only", async () => {
    const [channelId, elsewhere] = [await site.addChannel("seen"), await site.addChannel("unseen")];
    const id = await newOverlay();
    const [broadcast] = await send(id, { channelId });
    const broadcastId = broadcast?.broadcastId ?? "";
    const seen = async () => (await site.call("getReceipt", { params: { broadcastId } })).as(Receipt).seen;
    expect(await seen()).toBeNull();
    await report([{ kind: "overlay.shown", id, broadcastId }], { channelId, weight: 7 });
    await report([{ kind: "overlay.shown", id, broadcastId }], { channelId: elsewhere });
    await report([{ kind: "overlay.shown", id: await newOverlay(), broadcastId }], { channelId });
    await flush();
    expect(await seen()).toBe(7);
  });

  test("arrive from navigator.sendBeacon, which sends text without headers", async () => {
    const channelId = await site.addChannel("beacon");
    const body = JSON.stringify({ channelId, deviceId: "phone", entries: [{ kind: "overlay.shown", id: await newOverlay() }] });
    const response = await site.call("reportImpressions", {
      as: "nobody",
      query: { clientId: site.id },
      body: new Blob([body], { type: "text/plain;charset=UTF-8" }),
    });
    expect(response.status).toBe(204);
    await flush();
    expect(await sums(channelId)).toMatchObject({ impressions: 1 });
    const broken = { as: "nobody", query: { clientId: site.id }, body: new Blob(["{"], { type: "text/plain" }) } as const;
    expect((await site.call("reportImpressions", broken)).problem?.code).toBe("malformed_json");
  });

  test.for(["Sec-GPC", "DNT"])("aren't counted if the request asks not to be tracked with %s", async (header) => {
    const channelId = await site.addChannel(`refused-${header.toLowerCase()}`);
    const body = { channelId, deviceId: "phone", entries: [{ kind: "overlay.shown", id: await newOverlay() }] };
    for (const value of ["1", "0"]) await site.call("reportImpressions", { body, headers: { [header]: value } });
    await flush();
    expect(await sums(channelId)).toMatchObject({ impressions: 1 });
  });

  test("cost no query, and one write for any number of reports", async () => {
    const channelId = await site.addChannel("cheap");
    const id = await newOverlay();
    const before = await writes();
    for (let viewer = 0; viewer < 100; viewer++) {
      const { log } = await report([{ kind: "overlay.shown", id }], { channelId, deviceId: `viewer-${viewer}` });
      expect(log.d1).toEqual({ roundTrips: 0, statements: 0 });
    }
    await flush();
    expect(await writes()).toBe(before + 1);
    expect(await sums(channelId)).toMatchObject({ overlayImpressions: 100 });
  });

  test.for([
    ["a weight of 0", { weight: 0 }, "weight"],
    ["a weight that nobody samples by", { weight: 1001 }, "weight"],
    ["no entries", { entries: [] }, "entries"],
    ["too many entries", { entries: Array.from({ length: 101 }, () => ({ kind: "poll.shown", id: newId(1) })) }, "entries"],
    ["an unknown kind", { entries: [{ kind: "poll.answered", id: newId(1) }] }, "entries.0.kind"],
    ["a broadcast of a panel", { entries: [{ kind: "panel.shown", id: newId(1), broadcastId: newId(1) }] }, "entries.0.broadcastId"],
  ] as const)("are rejected with %s", async ([, change, path]) => {
    const valid = { channelId: site.channels[0], deviceId: "phone", entries: [{ kind: "poll.shown", id: newId(1) }] };
    const response = await site.call("reportImpressions", { body: { ...valid, ...change } });
    expect(response).toMatchObject({ status: 400, fields: [path] });
  });

  test("of a body over 32 kB are rejected", async () => {
    const body = new Blob([JSON.stringify({ channelId: "x".repeat(40_000) })], { type: "text/plain" });
    expect((await site.call("reportImpressions", { body })).status).toBe(413);
  });
});

describe("the budget of reports", () => {
  test("ends what a device counts in a minute, and another device continues", async () => {
    const channelId = await site.addChannel("device-budget");
    const address = "192.0.2.10";
    const id = await newOverlay();
    const many = Array.from({ length: 100 }, () => ({ kind: "overlay.shown", id }));
    vi.spyOn(Date, "now").mockReturnValue(Date.now());
    for (let round = 0; round < 3; round++) expect((await report(many, { channelId, address, deviceId: "loud" })).status).toBe(204);
    await report([{ kind: "overlay.shown", id }], { channelId, address, deviceId: "quiet" });
    await flush(address);
    expect(await sums(channelId)).toMatchObject({ overlayImpressions: 121 });
  });

  test("of an address is counted by weight, so that a weight multiplies nothing", async () => {
    const channelId = await site.addChannel("address-budget");
    const address = "192.0.2.11";
    const entry = { kind: "overlay.shown", id: await newOverlay() };
    vi.spyOn(Date, "now").mockReturnValue(Date.now());
    for (let device = 0; device < 25; device++) await report([entry], { channelId, address, deviceId: `d${device}`, weight: 1000 });
    await flush(address);
    expect(await sums(channelId)).toMatchObject({ overlayImpressions: 20_000 });
  });

  test("lets an address name 100 different things between two writes", async () => {
    const channelId = await site.addChannel("names");
    const address = "192.0.2.12";
    const id = await newOverlay();
    for (let round = 0; round < 2; round++) {
      const invented = Array.from({ length: 60 }, () => ({ kind: "overlay.shown", id: newId(Date.now()) }));
      await report(invented, { channelId, address, deviceId: `attacker-${round}` });
    }
    await report([{ kind: "overlay.shown", id }], { channelId, address });
    await flush(address);
    expect(await sums(channelId)).toMatchObject({ overlayImpressions: 0 });
    await report([{ kind: "overlay.shown", id }], { channelId, address });
    await flush(address);
    expect(await sums(channelId)).toMatchObject({ overlayImpressions: 1 });
  });
});

test("a site's networks are spread over its counters", () => {
  const names = Array.from({ length: 500 }, (_, index) => insightCounterName(site.id, `192.0.${index >> 8}.${index & 255}`));
  expect(new Set(names).size).toBe(16);
  expect(counterOf("192.0.2.1").id.name).toBe(insightCounterName(site.id, "192.0.2.1"));
});
