import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { and, eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { insightHours, insightReach } from "#db/schema/insights.ts";
import { broadcastCalls } from "#test/broadcasts.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { insightCalls } from "#test/insights.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { countEvents } from "#worker/services/insights/event-counts.ts";
import { countMessages } from "#worker/services/insights/message-counts.ts";
import { writeVotes } from "#worker/services/polls/counting.ts";
import { atTime, evict, newChannel, runAlarmAt } from "./relay-viewer.ts";
import { atNextBatch } from "#test/next-batch.ts";
import { siteStore } from "#test/site-store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const db = createDb(siteStore);
const Named = z.object({ id: z.object({ name: z.string() }) });

async function figures(siteId: string, metric: (typeof insightHours.$inferSelect)["metric"]): Promise<[string, number, number][]> {
  const where = and(eq(insightHours.siteId, siteId), eq(insightHours.metric, metric));
  // Some sites are made up, and nothing has placed them.
  const rows = await siteDb(env, siteId).select().from(insightHours).where(where).orderBy(insightHours.channelId, insightHours.hour);
  return rows.map(({ channelId, hour, value }) => [channelId, hour, value]);
}

describe("reports of impressions", () => {
  async function world(): Promise<ReturnType<typeof insightCalls> & { site: TestSite; id: string }> {
    const site = await newSite();
    const id = await broadcastCalls(() => site).newOverlay();
    return { site, id, ...insightCalls(() => site) };
  }

  test("survive an eviction and a crash of their counter", async () => {
    const { id, report, flush, counterOf, sums } = await world();
    const entry = { kind: "overlay.shown", id };
    await report([entry]);
    await evict(counterOf());
    await report([entry]);
    await abortAllDurableObjects();
    await report([entry]);
    await flush();
    expect(await sums()).toMatchObject({ overlayImpressions: 3 });
  });

  test("count once if a write is repeated because its response was lost", async () => {
    const { site, id, report, flush, counterOf, sums } = await world();
    const entry = { kind: "overlay.shown", id };
    await report([entry]);
    const lost = atNextBatch(site.id, {
      after() {
        throw new Error("Network connection lost");
      },
    });
    await flush();
    expect(lost.isOver).toBe(true);
    await report([entry]);
    await evict(counterOf());
    // The flush that failed, then what came after it.
    await flush();
    await flush();
    expect(await sums()).toMatchObject({ overlayImpressions: 2 });
  });

  test("of 1,000 viewers cost a request and a call each, and one write per counter", async () => {
    const { site, id, report, writes, counterOf, sums } = await world();
    const addresses = Array.from({ length: 200 }, (_, index) => `198.51.100.${index}`);
    // In the future, so that no counter writes by itself meanwhile.
    await atTime(Date.now() + HOUR, async () => {
      for (const address of addresses)
        await Promise.all(
          Array.from({ length: 5 }, (_, device) => report([{ kind: "overlay.shown", id }], { address, deviceId: `${device}` })),
        );
      for (const name of new Set(addresses.map((address) => counterOf(address).id.name)))
        await runDurableObjectAlarm(env.INSIGHT_COUNTER.getByName(name ?? ""));
      expect(await writes()).toBe(16);
      expect(await sums(site.channels[0])).toMatchObject({ overlayImpressions: 1_000 });
    });
  });
});

describe("the viewers of a site", () => {
  const START = Math.ceil(Date.now() / HOUR) * HOUR;

  /** Reports a relay's count at a time, as the relay does. */
  async function count(channel: ReturnType<typeof newChannel>, viewers: number, at: number, devices: string[] = []): Promise<void> {
    const report = {
      channelId: channel.channelId,
      relay: 0,
      count: viewers,
      devices: devices.map((device) => ({ device, network: null })),
    };
    await atTime(at, () => channel.presence.report(report));
  }

  test("per minute follow a model, by channel and for the site, through evictions", async () => {
    const one = newChannel();
    const two = newChannel(one.siteId);
    const counts = new Map<string, number>();
    vi.spyOn(Relay.prototype, "takeCensus").mockImplementation(function (this: Relay) {
      const { id } = Named.parse(Reflect.get(this, "ctx"));
      return { count: counts.get(id.name.split(":")[1] ?? "") ?? 0, accounts: new Uint8Array() };
    });
    /** By channel: what was reported when. */
    const steps: [channel: typeof one, at: number, viewers: number][] = [];
    let random = 7;
    const next = (limit: number) => (random = (random * 48_271) % 2_147_483_647) % limit;
    let at = START;
    for (let step = 0; step < 120; step++) {
      at += next(20_000);
      steps.push([next(2) === 0 ? one : two, at, 1 + next(50)]);
    }
    for (const [index, [channel, time, viewers]] of steps.entries()) {
      counts.set(channel.channelId, viewers);
      await count(channel, viewers, time);
      if (index % 30 === 17) await evict(channel.presence);
    }
    const end = Math.ceil((at + 1) / MINUTE) * MINUTE;
    const range = { from: START, to: end, step: MINUTE };
    const expected = modelOf(
      steps.map(([channel, time, viewers]) => [channel.channelId, time, viewers]),
      START,
      end,
    );
    for (const channelId of [one.channelId, two.channelId, null])
      expect(await atTime(end, () => one.presence.viewerHistory(channelId, range)), String(channelId)).toEqual(expected(channelId));
    const fives = await atTime(end, () => one.presence.viewerHistory(null, { ...range, step: 5 * MINUTE }));
    expect(fives.every(({ at: five }) => five % (5 * MINUTE) === 0)).toBe(true);
    const sum = (spans: { viewerMs: number }[]) => spans.reduce((total, { viewerMs }) => total + viewerMs, 0);
    expect(sum(fives)).toBe(sum(expected(null)));
  });

  test("are written to the hours they were there, however often, and minutes are joined after a day", async () => {
    const channel = newChannel();
    await count(channel, 10, START + 10 * MINUTE, ["a", "b"]);
    await count(channel, 40, START + 11 * MINUTE, ["b", "c"]);
    await count(channel, 0, START + 12 * MINUTE);
    for (let run = 0; run < 2; run++) await atTime(START + 13 * MINUTE, () => channel.presence.flushViewers());
    const { siteId, channelId } = channel;
    expect(await figures(siteId, "peakViewers")).toEqual([[channelId, START, 40]]);
    expect(await figures(siteId, "sitePeakViewers")).toEqual([["", START, 40]]);
    expect(await figures(siteId, "viewerSeconds")).toEqual([[channelId, START, 10 * 60 + 40 * 60]]);
    expect(await figures(siteId, "newViewers")).toEqual([[channelId, START, 3]]);
    expect(await figures(siteId, "siteNewViewers")).toEqual([["", START, 3]]);
    const read = (step: number) => channel.presence.viewerHistory(channelId, { from: START, to: START + HOUR, step });
    const before = await atTime(START + 14 * MINUTE, () => read(5 * MINUTE));
    const later = START + 30 * HOUR;
    await count(channel, 1, later);
    await runAlarmAt(channel.presence, later + 10 * MINUTE);
    expect(await atTime(later + 11 * MINUTE, () => read(5 * MINUTE))).toEqual(before);
    expect(await atTime(later + 11 * MINUTE, () => read(MINUTE))).toEqual(before);
  });

  test("aren't believed to be there when nobody has confirmed them for long", async () => {
    const channel = newChannel();
    const heartbeat = Number(env.TIFO_HEARTBEAT_SECONDS) * 1000;
    await count(channel, 5, START);
    await count(channel, 6, START + 100 * heartbeat);
    const range = { from: START, to: START + 100 * heartbeat, step: MINUTE };
    const spans = await atTime(START + 100 * heartbeat, () => channel.presence.viewerHistory(channel.channelId, range));
    expect(spans.reduce((sum, { viewerMs }) => sum + viewerMs, 0)).toBe(5 * 4 * heartbeat);
  });

  test("count as new once a day per channel and once per site, without storing what devices are called", async () => {
    const one = newChannel();
    const two = newChannel(one.siteId);
    const day = Math.ceil(Date.now() / (24 * HOUR)) * 24 * HOUR;
    await count(one, 2, day + HOUR, ["phone", "tv"]);
    await count(two, 1, day + 2 * HOUR, ["phone"]);
    await count(one, 2, day + 3 * HOUR, ["phone", "tablet"]);
    await count(one, 1, day + 25 * HOUR, ["phone"]);
    await atTime(day + 25 * HOUR, () => one.presence.flushViewers());
    expect((await figures(one.siteId, "newViewers")).filter(([channelId]) => channelId === one.channelId)).toEqual([
      [one.channelId, day + HOUR, 2],
      [one.channelId, day + 3 * HOUR, 1],
      [one.channelId, day + 25 * HOUR, 1],
    ]);
    expect(await figures(one.siteId, "siteNewViewers")).toEqual([
      ["", day + HOUR, 2],
      ["", day + 3 * HOUR, 1],
      ["", day + 25 * HOUR, 1],
    ]);
  });
});

/** Every minute's highest count and the time that all viewers spent, second by second of the steps. */
function modelOf(steps: [channelId: string, at: number, viewers: number][], from: number, to: number) {
  return (wanted: string | null) => {
    const counts = new Map<string, number>();
    const minutes = new Map<number, { at: number; peak: number; viewerMs: number }>();
    const total = () => (wanted === null ? [...counts.values()].reduce((sum, count) => sum + count, 0) : (counts.get(wanted) ?? 0));
    const touch = (time: number, ms: number) => {
      const at = time - (time % MINUTE);
      const known = minutes.get(at) ?? { at, peak: 0, viewerMs: 0 };
      if (total() > 0) minutes.set(at, { at, peak: Math.max(known.peak, total()), viewerMs: known.viewerMs + ms * total() });
    };
    const advance = (start: number, end: number) => {
      for (let at = start; at < end;) {
        const next = Math.min(end, at - (at % MINUTE) + MINUTE);
        touch(at, next - at);
        at = next;
      }
    };
    let now = from;
    for (const [channelId, at, viewers] of steps) {
      advance(now, at);
      counts.set(channelId, viewers);
      touch(at, 0);
      now = at;
    }
    advance(now, to);
    return [...minutes.values()].filter(({ at }) => at < to).sort((one, other) => one.at - other.at);
  };
}

describe("what the other areas count", () => {
  const hour = Math.floor(Date.now() / HOUR) * HOUR;

  test("adds each vote once to its hour and channel, however often a batch is written", async () => {
    const site = await newSite();
    const pollId = newId(Date.now());
    const [channelId] = site.channels;
    const votes = Array.from({ length: 9 }, (_, index) => ({
      ...{ accountId: newId(index), n: 1, answerId: "a", seq: index + 1 },
      ...{ created: hour + (index < 5 ? 0 : HOUR), channelId: index % 2 === 0 ? channelId : "" },
    }));
    const poll = { siteId: site.id, pollId, counter: 3 };
    // A viewer can name any channel with a vote by REST.
    const [foreign] = (await newSite()).channels;
    const named = votes.map((vote) => (vote.channelId === "" && vote.seq > 5 ? { ...vote, channelId: foreign } : vote));
    await writeVotes(env, poll, named.slice(0, 6));
    await writeVotes(env, poll, named.slice(0, 6));
    await writeVotes(env, poll, named);
    expect(await figures(site.id, "votes")).toEqual([
      ["", hour, 2],
      ["", hour + HOUR, 2],
      [channelId, hour, 3],
      [channelId, hour + HOUR, 2],
    ]);
  });

  test("counts each account that responds to a poll once, by channel and day, however many responses it sends", async () => {
    const site = await newSite();
    const pollId = newId(Date.now());
    const [channelId] = site.channels;
    const day = hour - (hour % DAY);
    const vote = (seq: number, n: number, created: number, on: string) => ({
      accountId: newId(1),
      n,
      answerId: "a",
      seq,
      created,
      channelId: on,
    });
    const votes = [
      ...[vote(1, 1, day, channelId), vote(2, 2, day, channelId), vote(3, 1, day + HOUR, channelId)],
      ...[vote(4, 1, day, ""), vote(5, 1, day - DAY, newId(2))],
    ];
    const poll = { siteId: site.id, pollId, counter: 3 };
    await writeVotes(env, poll, votes.slice(0, 3));
    await writeVotes(env, poll, votes.slice(0, 3));
    await writeVotes(env, poll, votes);
    const where = and(eq(insightReach.siteId, site.id), eq(insightReach.kind, "poll.answered"));
    const rows = await db.select().from(insightReach).where(where).orderBy(insightReach.channelId, insightReach.day);
    expect(rows.map(({ channelId: on, day: start, targetId, value }) => [on, start, targetId, value])).toEqual([
      ["", day - DAY, pollId, 1],
      ["", day, pollId, 1],
      [channelId, day, pollId, 2],
    ]);
  });

  test("adds the growth of a room's messages, whichever of its writes arrive", async () => {
    const room = { siteId: newId(1), channelId: newId(2) };
    for (const total of [4, 4, 9, 7, 12]) await countMessages(env, room, total, hour + 1);
    expect(await figures(room.siteId, "messages")).toEqual([[room.channelId, hour, 12]]);
  });

  test("adds claims, payments and donations of the event log by the time of the event, each once", async () => {
    const { id: siteId, channels } = await newSite();
    const [channelId] = channels;
    const entry = (sequence: number, type: string, data: object) => ({
      ...{ id: newId(sequence), type, created: hour + sequence, sequence, previousSequence: null, resource: `x/${randomHex(3)}` },
      ...{ data: JSON.stringify(data), actor: "system", requestId: "r", origin: null },
    });
    const entries = [
      entry(1, "quest.claimed", {}),
      entry(2, "billing.chargeCompleted", { itemType: "subscription" }),
      entry(3, "page.updated", {}),
      entry(5, "billing.chargeCompleted", { itemType: "donation" }),
      entry(6, "billing.chargeCompleted", { erased: true }),
      entry(7, "donation.paid", { channelId }),
      entry(8, "donation.paid", { channelId: null }),
      entry(9, "donation.paid", { channelId: newId(3) }),
    ];
    await countEvents(env, siteId, entries.slice(0, 2), hour);
    await countEvents(env, siteId, entries, hour);
    await countEvents(env, siteId, entries, hour);
    expect(await figures(siteId, "claims")).toEqual([["", hour, 1]]);
    expect(await figures(siteId, "purchases")).toEqual([["", hour, 2]]);
    expect(await figures(siteId, "donations")).toEqual([
      ["", hour, 2],
      [channelId, hour, 1],
    ]);
  });
});
