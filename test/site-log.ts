import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect } from "vitest";
import { createDb } from "#db/client.ts";
import { outbox } from "#db/schema/index.ts";
import { newId } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { ORIGIN, type TestSite } from "./harness.ts";

// What tests of a site's log leave for it, ask of it and make due.

const db = createDb(env.DB);
export const DAY = 86_400_000;

// Made anew at each use: a stub does not outlive a crash of its object.
export const logOf = (siteId: string) => env.SITE_LOG.getByName(siteId);

export async function eventsOf(siteId: string) {
  return (await logOf(siteId).read({ after: 0, limit: 1000, types: null })).entries;
}

export function outboxRows(siteId: string) {
  return db.select().from(outbox).where(eq(outbox.siteId, siteId));
}

/** Writes what a committed change leaves for the log. */
export async function insertOutboxRows(
  siteId: string,
  count: number,
  { created = Date.now(), size = 10, type = "test.happened", resource = "test/1" } = {},
): Promise<void> {
  const event = { siteId, type, resource, data: { text: "a".repeat(size) }, actor: "system", requestId: "test", created };
  const [first, ...others] = Array.from({ length: count }, () => db.insert(outbox).values({ ...event, eventId: newId(created) }));
  if (first) await db.batch([first, ...others]);
}

/** Has what failed be due now. */
export async function makeRetriesDue(siteId: string): Promise<void> {
  await runInDurableObject(logOf(siteId), (_, state) => void state.storage.sql.exec("UPDATE retries SET due = 0"));
}

/** Prunes now, whatever its hour. */
export async function pruneNow(siteId: string): Promise<void> {
  await runInDurableObject(logOf(siteId), (_, state) => void state.storage.sql.exec("UPDATE upkeep SET prune_due = 0"));
  await logOf(siteId).nudge();
}

export async function createOverlay(site: TestSite): Promise<string> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 60, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

/** Broadcasts to the first channel, which does not take it: the caller is told of a failure. */
export async function expectBroadcastFailure(site: TestSite, overlayId: string): Promise<void> {
  const headers = { ...(await site.headersOf("developer")), "Content-Type": "application/json" };
  const body = JSON.stringify({ channelId: site.channels[0] });
  const answer = await exports.default.fetch(`${ORIGIN}/overlay/v1/broadcast/${overlayId}`, { method: "POST", headers, body });
  expect(answer.status).toBeGreaterThanOrEqual(500);
}
