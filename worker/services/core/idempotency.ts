import { and, eq, lt, or } from "drizzle-orm";
import { idempotencyKeys } from "#db/schema/events.ts";
import { Failure } from "#worker/lib/errors.ts";
import { type Ctx, nudgeAgain } from "./context.ts";

/** A response as stored for a repeated key. */
export interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const RETENTION = 24 * 60 * 60 * 1000;
// A request that has not committed after this time has failed, and its key can be used again.
const LEASE = 60 * 1000;

const UNANSWERED =
  "The first request with this Idempotency-Key took effect; its response was lost or contained a secret and can't be replayed";

/** Claims the key for this request, or returns the stored response of the first one. */
export async function claimKey(ctx: Ctx, id: string, fingerprint: string): Promise<StoredResponse | undefined> {
  const claim = {
    siteId: ctx.siteId,
    fingerprint,
    state: "running" as const,
    lease: ctx.now + LEASE,
    expires: ctx.now + RETENTION,
    status: null,
    headers: null,
    body: null,
  };
  const [claimed, [stored]] = await ctx.db.batch([
    ctx.db
      .insert(idempotencyKeys)
      .values({ id, ...claim })
      .onConflictDoUpdate({
        target: idempotencyKeys.id,
        set: claim,
        setWhere: or(lt(idempotencyKeys.expires, ctx.now), and(eq(idempotencyKeys.state, "running"), lt(idempotencyKeys.lease, ctx.now))),
      })
      .returning({ id: idempotencyKeys.id }),
    ctx.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, id)),
  ]);
  if (claimed.length > 0 || !stored) return undefined;
  if (stored.fingerprint !== fingerprint)
    throw new Failure("idempotency_mismatch", "This Idempotency-Key was used for a request with another body");
  if (stored.state === "running")
    throw new Failure("idempotency_in_flight", "The first request with this Idempotency-Key is still running");
  const { state, status, headers, body } = stored;
  // A request that stores its response has woken the log before.
  if (state === "committed" || status === null || body === null) throw nudgeAgain(ctx, new Failure("idempotency_unanswered", UNANSWERED));
  return { status, headers: headers ?? {}, body };
}

/** Stores the response or, if it is omitted because it contains a secret, only that the request was committed. */
export async function storeResponse(ctx: Ctx, id: string, response: StoredResponse | undefined): Promise<void> {
  await ctx.db
    .update(idempotencyKeys)
    .set(response ? { state: "answered", ...response } : { state: "committed" })
    .where(eq(idempotencyKeys.id, id));
}

/** Releases a key whose request was rejected before it had any effect. */
export async function releaseKey(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(and(eq(idempotencyKeys.id, id), eq(idempotencyKeys.state, "running")));
}

/** Deletes keys that are older than 24 hours. */
export async function pruneKeys(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(lt(idempotencyKeys.expires, ctx.now));
}
