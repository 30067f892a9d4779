import { runInDurableObject } from "cloudflare:test";
import { type DurableObject, env, exports } from "cloudflare:workers";
import type { z } from "@hono/zod-openapi";
import { eq, getTableName } from "drizzle-orm";
import { expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { idempotencyKeys } from "#db/schema/events.ts";
import { sandboxes } from "#db/schema/sandboxes.ts";
import { channelName, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { counterName } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { Sandbox } from "#worker/services/sandboxes/schemas.ts";
import { ORIGIN } from "../harness.ts";
import { resetLimit } from "../limit-usage.ts";
import { tables } from "../tables.ts";
import { TestViewer } from "./relay-viewer.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;

function post(path: string, headers: Record<string, string> = {}, body?: BodyInit): Promise<Response> {
  return exports.default.fetch(new URL(path, ORIGIN), { method: "POST", headers, ...(body && { body }) });
}

async function newSandbox(): Promise<z.output<typeof Sandbox>> {
  await resetLimit(GLOBAL_AUDIENCE, "createSandbox", "local");
  return Sandbox.parse(await (await post("/site/v1/sandbox")).json());
}

/** Everything that the database has, without responses that are kept for a day under the hash of their key. */
async function databaseText(): Promise<string> {
  const rows = tables
    .filter((table) => table !== idempotencyKeys)
    .map(async (table) => [getTableName(table), await db.select().from(table)]);
  return JSON.stringify(await Promise.all(rows));
}

/** What an object stores. */
function stored<Stored extends DurableObject>(object: DurableObjectStub<Stored>): Promise<unknown> {
  return runInDurableObject(object, (_, { storage }) => {
    const names = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
    );
    // Each channel has an epoch of its own.
    return [
      [...storage.kv.list()].filter(([key]) => key !== "epoch"),
      ...names.toArray().map(({ name }) => [name, storage.sql.exec(`SELECT * FROM "${name}"`).toArray()]),
    ];
  });
}

test("a sandbox that expires leaves no row, object or file, while others stay", async () => {
  const [expired, kept] = [await newSandbox(), await newSandbox()];
  const siteId = expired.site._id;
  const key = { "Tifo-Client-Id": siteId, "Tifo-Developer-Key": expired.developerKey, "Content-Type": "application/json" };
  const socket = await exports.default.fetch(new URL(`/realtime/v1/channels/${expired.channel._id}?clientId=${siteId}`, ORIGIN), {
    headers: { Upgrade: "websocket" },
  });
  if (!socket.webSocket) throw new Error(`The upgrade failed with ${socket.status}`);
  const viewer = new TestViewer(socket.webSocket);
  await viewer.first("welcome");
  const broadcast = JSON.stringify({ channelIds: [expired.channel._id] });
  expect((await post(`/overlay/v1/broadcast/${expired.overlayId}`, key, broadcast)).status).toBe(200);
  await viewer.first("overlay.show");
  const form = new FormData();
  form.set("file", new File([Uint8Array.of(...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])], "crest.png", { type: "image/png" }));
  const upload = await exports.default.fetch(new URL("/media/v1", ORIGIN), {
    method: "POST",
    headers: { "Tifo-Client-Id": siteId, "Tifo-Developer-Key": expired.developerKey },
    body: form,
  });
  expect(upload.status).toBe(201);
  await siteLogOf(env, siteId).nudge();

  const channel = channelName(siteId, expired.channel._id);
  const other = newId(Date.now());
  const storedBy = (site: string, of: string) =>
    Promise.all([
      stored(env.SITE_LOG.getByName(site)),
      stored(env.SITE_PRESENCE.getByName(site)),
      stored(env.CHANNEL.getByName(of)),
      stored(env.RELAY.getByName(relayName(of, 0))),
      stored(env.CHAT_ROOM.getByName(of)),
      stored(env.POLL_COUNTER.getByName(counterName(site, expired.pollId, 0))),
    ]);
  const unused = await storedBy(other, channelName(other, expired.channel._id));
  expect((await storedBy(siteId, channel)).slice(0, 4)).not.toEqual(unused.slice(0, 4));
  expect(await databaseText()).toContain(siteId);

  await db.update(sandboxes).set({ due: 0, expires: 0 }).where(eq(sandboxes.siteId, siteId));
  const now = Date.now();
  // The cron runs each minute, and takes one step after the other.
  for (let minute = 0; minute < 5; minute++) await runScheduled(env, now + minute * MINUTE);

  const left = await databaseText();
  for (const id of [siteId, expired.channel._id, expired.pollId, expired.overlayId, expired.admin.accountId])
    expect(left).not.toContain(id);
  // An object ends just after it has deleted everything, and rejects a call that arrives in between.
  await expect.poll(() => storedBy(siteId, channel).catch(String)).toEqual(unused);
  expect((await env.MEDIA.list()).objects).toEqual([]);
  expect(await viewer.closed).toMatchObject({ code: 4404 });
  expect(left).toContain(kept.site._id);
});

test("however many sandboxes are created, there are never more than the operator allows", async () => {
  const statuses: number[] = [];
  for (let index = 0; index < Number(env.TIFO_SANDBOXES) + 2; index++) {
    await resetLimit(GLOBAL_AUDIENCE, "createSandbox", "local");
    statuses.push((await post("/site/v1/sandbox")).status);
  }
  expect(statuses.at(-1)).toBe(503);
  expect(await db.$count(sandboxes)).toBe(Number(env.TIFO_SANDBOXES));
});
