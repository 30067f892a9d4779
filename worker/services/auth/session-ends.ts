import { and, eq, gt, isNull, ne, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { sessions } from "#db/schema/accounts.ts";
import type { SESSION_ENDS } from "#db/enums.ts";
import { wonRace } from "#worker/lib/errors.ts";
import { batchAll, commit, commitIfUnchanged, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { GLOBAL_AUDIENCE } from "./tokens.ts";

// The only place that revokes sessions; an effect of each event closes the session's sockets.

type Reason = (typeof SESSION_ENDS)[number];
interface Plan {
  change: BatchItem<"sqlite">;
  events: NewEvent[];
}
type Ended = Pick<typeof sessions.$inferSelect, "id" | "accountId" | "audience">;

/** Ends a session if `where` holds; a no-op if it has already ended. */
export async function endSession(ctx: Ctx, session: Ended, reason: Reason, where?: SQL): Promise<void> {
  const { id, audience } = session;
  const change = ctx.db
    .update(sessions)
    .set({ revoked: ctx.now })
    .where(and(eq(sessions.id, id), isNull(sessions.revoked), where));
  // A global session belongs to no site and opens no sockets.
  if (audience === GLOBAL_AUDIENCE) return void (await change);
  await wonRace(() => commitIfUnchanged({ ...ctx, siteId: audience }, change, endedEvent(session, reason)));
}

/** Plans the end of all but one of an account's sessions: the statement and the events, for the commit that causes it. */
export async function planOtherSessionEnds(
  ctx: Ctx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  reason: Reason,
): Promise<Plan> {
  return planEnds(ctx, accountId, reason, ne(sessions.id, sessionId));
}

/** Ends every session of an account, on all its devices. */
export async function endAllSessions(ctx: Ctx, { accountId, audience }: Omit<Ended, "id">, reason: Reason): Promise<void> {
  const { change, events } = await planEnds({ ...ctx, siteId: audience }, accountId, reason);
  // Global sessions belong to no site and open no sockets.
  if (audience === GLOBAL_AUDIENCE) await batchAll(ctx.db, [change]);
  else await commit({ ...ctx, siteId: audience }, change, ...events);
}

async function planEnds(ctx: Ctx, accountId: string, reason: Reason, which?: SQL): Promise<Plan> {
  const ending = and(eq(sessions.audience, ctx.siteId), eq(sessions.accountId, accountId), isNull(sessions.revoked), which);
  const open = await ctx.db
    .select()
    .from(sessions)
    .where(and(ending, gt(sessions.expires, ctx.now)));
  const change = ctx.db.update(sessions).set({ revoked: ctx.now }).where(ending);
  return { change, events: open.map((session) => endedEvent(session, reason)) };
}

function endedEvent({ id, accountId, audience }: Ended, reason: Reason): NewEvent {
  const data = { _id: accountId, siteId: audience, sessionId: id, reason };
  return { type: "account.sessionEnded", resource: `account/${accountId}`, data };
}

/** Ends the session of a reused refresh token, which may have been stolen. */
export async function endStolenSession(ctx: Ctx, token: { sessionId: string; generation: number }): Promise<void> {
  const usedBefore = gt(sessions.generation, token.generation);
  const [session] = await ctx.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.id, token.sessionId), usedBefore, isNull(sessions.revoked)));
  // The refresh itself fails, so its Idempotency-Key isn't marked as used.
  if (session) await endSession({ ...ctx, idempotencyId: undefined }, session, "refreshTokenReused", usedBefore);
}
