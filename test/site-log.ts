import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { createDb } from "#db/client.ts";
import { outbox } from "#db/schema/events.ts";
import { newId } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { ORIGIN, type TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

// Helpers for the tests of a site's log.

const db = createDb(siteStore);
export const DAY = 86_400_000;

// Created for each use, because a stub doesn't survive a crash of its object.
export const logOf = (siteId: string) => env.SITE_LOG.getByName(siteId);

export async function eventsOf(siteId: string) {
  return (await logOf(siteId).read({ after: 0, limit: 1000, types: null })).entries;
}

export function outboxRows(siteId: string) {
  return db.select().from(outbox).where(eq(outbox.siteId, siteId));
}

/** Inserts outbox rows, as committed changes do. */
export async function insertOutboxRows(
  siteId: string,
  count: number,
  { created = Date.now(), size = 10, type = "test.happened", resource = "test/1" } = {},
): Promise<void> {
  const event = { siteId, type, resource, data: { text: "a".repeat(size) }, actor: "system", requestId: "test", created };
  const [first, ...others] = Array.from({ length: count }, () => db.insert(outbox).values({ ...event, eventId: newId(created) }));
  if (first) await db.batch([first, ...others]);
}

/** Makes all failed effects due now. */
export async function makeRetriesDue(siteId: string): Promise<void> {
  await runInDurableObject(logOf(siteId), (_, state) => void state.storage.sql.exec("UPDATE retries SET due = 0"));
}

/** Prunes the log now, whatever its schedule. */
export async function pruneNow(siteId: string): Promise<void> {
  await runInDurableObject(logOf(siteId), (_, state) => void state.storage.sql.exec("UPDATE upkeep SET prune_due = 0"));
  await logOf(siteId).nudge();
}

export async function createOverlay(site: TestSite): Promise<string> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 60, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

/** Broadcasts to the first channel, which fails: the caller receives a 5xx. */
export async function expectBroadcastFailure(site: TestSite, overlayId: string): Promise<void> {
  const headers = { ...(await site.headersOf("developer")), "Content-Type": "application/json" };
  const body = JSON.stringify({ channelId: site.channels[0] });
  const response = await exports.default.fetch(`${ORIGIN}/overlay/v1/broadcast/${overlayId}`, { method: "POST", headers, body });
  expect(response.status).toBeGreaterThanOrEqual(500);
}
