import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { migrate, type Migration } from "#worker/durable-objects/migrations.ts";
import type { Automation } from "#worker/durable-objects/automation.ts";
import { counterName } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { limiterName } from "#worker/lib/limits.ts";
import { newSite } from "../harness.ts";
import { goal, newDataProvider, newRule, newTemplate, ruleOf } from "../providers.ts";
import * as firstSchema from "./first-schema.ts";
import { evict, join, newBroadcast, newChannel, requestToRelay } from "./relay-viewer.ts";

/** The fact in the test rule's trigger. */
const HOME = "match.score.home";

interface Stored {
  kv?: Record<string, unknown>;
  /** Rows by table. */
  rows?: Record<string, Record<string, string | number | null>[]>;
}

/** Restarts an object on a database of the first release: its tables, data, and no version. */
async function startOn(stub: DurableObjectStub, schema: string, { kv = {}, rows = {} }: Stored): Promise<void> {
  await runInDurableObject(stub, async (_, { storage }) => {
    await storage.deleteAll();
    storage.sql.exec(schema);
    for (const [key, value] of Object.entries(kv)) storage.kv.put(key, value);
    for (const [table, records] of Object.entries(rows)) {
      for (const record of records) {
        const columns = Object.keys(record);
        const insert = `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => "?").join()})`;
        storage.sql.exec(insert, ...Object.values(record));
      }
    }
  });
  await evict(stub);
}

describe("An object on a database of the first release", () => {
  const now = Date.now();
  const receipt = { seq: 1, sockets: 3, sent: 3, acknowledged: 2, late: 1, delays: [[64, 2]] };

  test("Limiter still counts what was used", async () => {
    const key = newId(now);
    const stub = env.LIMITER.getByName(limiterName("site", { name: "signIn", key }));
    await startOn(stub, firstSchema.LIMITER, { rows: { windows: [{ name: "signIn", key, ends: now + 30_000, used: 4 }] } });
    expect(await stub.peek("signIn", key)).toMatchObject({ allowed: true, remaining: 1 });
    await stub.takeAll([{ name: "signIn", key }]);
    expect((await stub.takeAll([{ name: "signIn", key }])).map(({ allowed }) => allowed)).toEqual([false]);
  });

  test("Channel continues its log, shows active overlays and keeps its receipts", async () => {
    const channel = newChannel();
    const shown = newBroadcast();
    const { broadcastId, overlayId, endsAt } = shown;
    const body = JSON.stringify({ type: "overlay.show", seq: 1, upTo: 1, ...shown });
    const rule = { type: "rule", seq: 2, upTo: 2, data: { _id: newId(now), active: true } };
    const poll = newId(now);
    await startOn(channel.stub, firstSchema.CHANNEL, {
      kv: { epoch: "0123456789abcdef", rulesVersion: 1, relays: 1 },
      rows: {
        frames: [
          { seq: 1, at: now, body, shows: broadcastId, until: endsAt },
          { seq: 2, at: now, body: JSON.stringify(rule), rule: JSON.stringify({ id: rule.data._id, active: true }) },
        ],
        broadcasts: [{ broadcast_id: broadcastId, overlay_id: overlayId, seq: 1, at: now, ends_at: endsAt, until: endsAt, body }],
        applied: [{ id: broadcastId, at: now, seq: 1, starts_at: now, ends_at: endsAt, ids: "[]" }],
        rules: [{ id: rule.data._id, seq: 2, source: JSON.stringify({ _id: rule.data._id }), body: JSON.stringify(rule) }],
        receipts: [{ broadcast_id: broadcastId, relay: 1, at: now, body: JSON.stringify({ broadcastId, ...receipt }) }],
        states: [{ key: poll, type: "poll.updated", at: now, body: JSON.stringify({ _id: poll }) }],
      },
    });
    const snapshot = await channel.stub.snapshot(0);
    expect(snapshot).toMatchObject({ epoch: "0123456789abcdef", head: 2, states: [{ key: poll }] });
    expect([snapshot.active.frames, snapshot.rules, snapshot.tail].map((frames) => frames.map(({ seq }) => seq))).toEqual([
      [1],
      [2],
      [1, 2],
    ]);
    expect(await channel.stub.receipts([broadcastId])).toEqual([receipt]);
    expect((await channel.stub.publish(shown)).seq).toBe(1);
    expect((await channel.stub.publish(newBroadcast())).seq).toBe(3);
  });

  test("Relay keeps its receipts and rejects a used ticket", async () => {
    const channel = newChannel();
    const broadcastId = newId(now);
    const expires = now + 60_000;
    await startOn(channel.relay(), firstSchema.RELAY, {
      rows: {
        receipts: [{ seq: 1, body: JSON.stringify({ broadcastId, ...receipt, at: now, tags: null }) }],
        spent_groups: [{ nonces: '["used"]', expires }],
      },
    });
    expect(await channel.relay().receipts([broadcastId])).toEqual([{ broadcastId, ...receipt }]);
    expect((await requestToRelay(channel, { nonce: { value: "used", expires } })).status).toBe(401);
    await join(channel, { nonce: { value: "unused", expires } });
  });

  test("SitePresence sends the site's active overlays to an opening channel and counts the day's devices", async () => {
    const channel = newChannel();
    const [siteWide, rule, poll, account] = [newBroadcast(), newId(now), newId(now), newId(now)];
    const day = Math.floor(now / 86_400_000);
    const command = { id: siteWide.broadcastId, at: now, until: siteWide.endsAt, kind: "publish", overlay_id: siteWide.overlayId };
    await startOn(channel.presence, firstSchema.SITE_PRESENCE, {
      kv: { rulesVersion: 4 },
      rows: {
        commands: [{ ...command, body: JSON.stringify(siteWide) }],
        reached: [{ broadcast_id: siteWide.broadcastId, channel_id: "another", until: siteWide.endsAt }],
        rechecks: [{ account_id: account, number: 7, at: now, pending: 0 }],
        devices: [{ day, device: "phone" }],
        device_networks: [{ day, network: "home", devices: 1 }],
        relays: [{ channel_id: channel.channelId, relay: 0 }],
        rules: [{ id: rule, channel_id: null, body: "{}" }],
        states: [{ key: poll, type: "poll.updated", at: now, body: "{}" }],
      },
    });
    expect(await channel.presence.opening(channel.channelId, 0)).toMatchObject({
      commands: [{ id: siteWide.broadcastId }],
      rules: { version: 4, rules: [{ id: rule, channelId: null, body: "{}" }] },
      states: [{ key: poll }],
    });
    expect((await channel.presence.reachedBy(siteWide.broadcastId)).sort()).toEqual(["another", channel.channelId].sort());
    expect((await channel.presence.concurrents()).totalViews).toBe(1);
    const numbers = await runInDurableObject(channel.presence, async (presence, { storage }) => {
      await presence.recheck([account]);
      return storage.sql.exec("SELECT number FROM rechecks").toArray();
    });
    expect(numbers).toEqual([{ number: 8 }]);
  });

  test("SiteLog and WebhookEndpoint keep events, and a deleted person's are erased in both", async () => {
    const [siteId, endpointId, eventId, resource] = [newId(now), newId(now), newId(now), `userprofile/${newId(now)}`];
    const [log, endpoint] = [env.SITE_LOG.getByName(siteId), env.WEBHOOK_ENDPOINT.getByName(`${siteId}:${endpointId}`)];
    const event = { id: eventId, type: "userProfile.updated", resource, created: now };
    await startOn(log, firstSchema.SITE_LOG, {
      rows: {
        events: [{ ...event, sequence: 5, data: '{"name":"Ada"}', actor: "system", request_id: "request", done: 1 }],
        resources: [{ resource, sequence: 5 }],
        subscribers: [{ id: endpointId, services: '["userProfile"]', state: "on", cursor: 5, changed: 1 }],
      },
    });
    const delivery = { id: newId(now), event_id: eventId, type: event.type, resource, service: "userProfile", created: now };
    await startOn(endpoint, firstSchema.WEBHOOK_ENDPOINT, {
      rows: { deliveries: [{ ...delivery, event: '{"sequence":5,"data":{"name":"Ada"}}', state: "delivered", settled: now }] },
    });
    const all = { after: 0, limit: 10, types: null };
    expect(await log.read(all)).toMatchObject({ head: 5, entries: [{ id: eventId, data: '{"name":"Ada"}', sequence: 5 }] });
    const query = { limit: 10, offset: 0, direction: -1, cursor: null, state: null, type: null, search: null } as const;
    expect(await endpoint.deliveries(query)).toMatchObject({ totalCount: 1, rows: [{ id: delivery.id, state: "delivered" }] });
    await log.erase(resource, 6);
    expect((await log.read(all)).entries[0]?.data).toBe('{"erased":true}');
    const delivered = await runInDurableObject(endpoint, (_, { storage }) =>
      storage.sql.exec<{ event: string }>("SELECT event FROM deliveries").one(),
    );
    expect(delivered.event).toBe('{"sequence":5,"data":{"erased":true}}');
  });

  test("PollCounter keeps its votes", async () => {
    const [siteId, pollId, accountId, answerId] = [newId(now), newId(now), newId(now), newId(now)];
    const stub = env.POLL_COUNTER.getByName(counterName(siteId, pollId, 3));
    const answers = [{ id: answerId, text: "Yes", imageUrl: null }];
    const poll = { version: 1, open: true, hideResults: false, responsesPerViewer: 1, answers, correctAnswerId: null };
    await startOn(stub, firstSchema.POLL_COUNTER, {
      kv: { poll, written: 0 },
      rows: { votes: [{ account_id: accountId, n: 1, answer_id: answerId, request_id: "first", created: now }] },
    });
    expect(await stub.tally()).toEqual({ [answerId]: 1 });
    expect(await stub.votesOf(accountId)).toEqual([{ accountId, n: 1, answerId, created: now }]);
    expect(await stub.vote({ accountId, answerId, requestId: "second" })).toMatchObject({ ok: false, code: "already_answered" });
  });

  test("Automation runs a scheduled firing, once", async () => {
    const site = await newSite();
    const provider = await newDataProvider(site);
    const ruleId = await newRule(site, ruleOf(site, provider, await newTemplate(site)));
    const event = { id: newId(now), providerId: provider.id, at: now, data: goal(1) };
    const stub = env.AUTOMATION.getByName(site.id);
    await startOn(stub, firstSchema.AUTOMATION, {
      rows: {
        handled: [{ event_id: event.id, at: now }],
        facts: [{ provider_id: provider.id, known: JSON.stringify({ [HOME]: { value: 0, at: now - 1, eventId: "0" } }) }],
        firings: [{ event_id: event.id, rule_id: ruleId, due: now, next: now, event: JSON.stringify(event) }],
      },
    });
    await runInDurableObject(stub, async (automation: Automation) => {
      await automation.handle(event);
      await automation.alarm();
    });
    const channel = env.CHANNEL.getByName(`${site.id}:${site.channels[0]}`);
    await expect.poll(() => channel.active()).toHaveLength(1);
    const next = { ...event, id: newId(now + 1), data: goal(2) };
    const left = await runInDurableObject(stub, async (automation: Automation, { storage }) => {
      await automation.handle(next);
      const [row] = storage.sql.exec<{ known: string }>("SELECT known FROM facts").toArray();
      const facts: unknown = JSON.parse(row?.known ?? "");
      return { firings: storage.sql.exec("SELECT * FROM firings").toArray(), facts };
    });
    expect(left).toMatchObject({ firings: [], facts: { [HOME]: { value: 2, eventId: next.id } } });
  });
});

describe("A store's migrations", () => {
  const CREATE = "CREATE TABLE IF NOT EXISTS notes (text TEXT)";
  const note = (text: string) => `INSERT INTO notes VALUES ('${text}')`;

  /** Migrates once for each list of steps, and returns the resulting notes. */
  function notesAfter(...starts: { steps: Migration[]; fails?: true }[]): Promise<string[]> {
    return runInDurableObject(env.LIMITER.getByName(newId(Date.now())), (_, { storage }) => {
      for (const { steps, fails } of starts) {
        const start = () => migrate(storage, "notes", steps);
        if (fails) expect(start).toThrow();
        else start();
      }
      return storage.sql
        .exec<{ text: string }>("SELECT text FROM notes")
        .toArray()
        .map(({ text }) => text);
    });
  }

  test("run once each, in order, over many starts", async () => {
    const steps = [CREATE, note("second"), note("third")];
    expect(await notesAfter({ steps: steps.slice(0, 2) }, { steps }, { steps })).toEqual(["second", "third"]);
  });

  test("continue after a crash, which rolls back the step that it interrupted", async () => {
    const crash: Migration = (storage) => {
      storage.sql.exec(note("half"));
      throw new Error("Crashed");
    };
    const steps = [CREATE, note("second"), note("third")];
    expect(await notesAfter({ steps: [CREATE, note("second"), crash], fails: true }, { steps })).toEqual(["second", "third"]);
  });

  test("convert data in code", async () => {
    const shout: Migration = ({ sql, kv }) => {
      sql.exec("UPDATE notes SET text = upper(text) || ?", kv.get<string>("mark") ?? "!");
    };
    expect(await notesAfter({ steps: [CREATE, note("goal")] }, { steps: [CREATE, note("goal"), shout] })).toEqual(["GOAL!"]);
  });

  test("leave the database of a newer release alone", async () => {
    expect(await notesAfter({ steps: [CREATE, note("newer")] }, { steps: [CREATE] })).toEqual(["newer"]);
  });

  test("don't affect other stores of the same object", async () => {
    const tables = await runInDurableObject(env.LIMITER.getByName(newId(Date.now())), (_, { storage }) => {
      migrate(storage, "notes", [CREATE]);
      migrate(storage, "others", ["CREATE TABLE others (text TEXT)"]);
      return storage.sql.exec("SELECT name FROM sqlite_master WHERE name IN ('notes', 'others') ORDER BY name").toArray();
    });
    expect(tables).toEqual([{ name: "notes" }, { name: "others" }]);
  });
});
