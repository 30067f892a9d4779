import { and, eq, lt, or } from "drizzle-orm";
import { idempotencyKeys } from "#db/schema/index.ts";
import { Failure } from "#worker/lib/errors.ts";
import type { Ctx } from "./context.ts";

/** An answer as it is kept for a repeated key. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const KEEP = 24 * 60 * 60 * 1000;
// A request that has not committed after this long has died; its key is free again.
const LEASE = 60 * 1000;

/** Claims the key for this request, or returns the answer that the first one got. */
export async function claimKey(ctx: Ctx, id: string, fingerprint: string): Promise<KeptAnswer | undefined> {
  const fresh = {
    fingerprint,
    state: "running" as const,
    lease: ctx.now + LEASE,
    expires: ctx.now + KEEP,
    status: null,
    headers: null,
    body: null,
  };
  const [claimed, [kept]] = await ctx.db.batch([
    ctx.db
      .insert(idempotencyKeys)
      .values({ id, ...fresh })
      .onConflictDoUpdate({
        target: idempotencyKeys.id,
        set: fresh,
        setWhere: or(lt(idempotencyKeys.expires, ctx.now), and(eq(idempotencyKeys.state, "running"), lt(idempotencyKeys.lease, ctx.now))),
      })
      .returning({ id: idempotencyKeys.id }),
    ctx.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, id)),
  ]);
  if (claimed.length > 0 || !kept) return undefined;
  if (kept.fingerprint !== fingerprint)
    throw new Failure("idempotency_mismatch", "This Idempotency-Key was used for a request with another body");
  if (kept.state === "running") throw new Failure("idempotency_in_flight", "The first request with this Idempotency-Key is still running");
  if (kept.state === "committed" || kept.status === null || kept.body === null) {
    throw new Failure(
      "idempotency_unanswered",
      "The first request with this Idempotency-Key took effect; its answer was lost or held a secret and can't be given again",
    );
  }
  return { status: kept.status, headers: kept.headers ?? {}, body: kept.body };
}

/** Keeps the answer; without one (a secret), only that there was one. */
export async function keepAnswer(ctx: Ctx, id: string, answer: KeptAnswer | undefined): Promise<void> {
  await ctx.db
    .update(idempotencyKeys)
    .set(answer ? { state: "answered", ...answer } : { state: "committed" })
    .where(eq(idempotencyKeys.id, id));
}

/** Frees a key whose request was refused before it did anything. */
export async function releaseKey(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(and(eq(idempotencyKeys.id, id), eq(idempotencyKeys.state, "running")));
}

/** Deletes keys past their 24 h. */
export async function pruneKeys(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(lt(idempotencyKeys.expires, ctx.now));
}
