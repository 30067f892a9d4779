import { and, eq } from "drizzle-orm";
import { type FiringRow, ruleFirings } from "#db/schema/automation-rules.ts";
import { pages } from "#db/schema/pages.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { Failure, wonRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { CreatePage } from "#worker/services/pages/schemas.ts";
import { PAUSED, type Plan, planFirings, type RuleFiring } from "./plans.ts";
import { type BroadcastEvent, insertRows, sendBroadcast } from "#worker/services/overlays/broadcasts.ts";
import { commit, commitIfUnchanged, type Ctx } from "#worker/services/core/context.ts";
import { createPage } from "#worker/services/pages/pages.ts";
import { switchPoll } from "#worker/services/polls/polls.ts";

/** An overlay sent later than this (after a restart) starts when it is sent, so that it isn't over before anyone sees it. */
const LATE_MS = 5_000;

type Outcome = Pick<FiringRow, "outcome" | "message" | "madeId">;

/**
 * Executes firings and records each outcome. Safe to repeat: each takes effect once. A firing that can't succeed is recorded as failed;
 * a temporary failure of the database or a channel rejects its promise, to be retried, without blocking the others.
 */
export async function executeFirings(ctx: Ctx, firings: RuleFiring[], paused: ReadonlySet<string>): Promise<PromiseSettledResult<void>[]> {
  const plans = await planFirings(ctx, firings, paused);
  return Promise.allSettled(
    plans.map(async (plan, index) => {
      const firing = firings[index];
      if (firing) await execute(ctx, firing, plan);
    }),
  );
}

/** Records that a rule was deleted or inactive when its delay was over. */
export async function recordDropped(ctx: Ctx, eventId: string, ruleId: string): Promise<void> {
  const row = and(eq(ruleFirings.eventId, eventId), eq(ruleFirings.ruleId, ruleId));
  await ctx.db.update(ruleFirings).set({ outcome: "dropped" }).where(row);
}

/** Records that a firing is scheduled, unless its outcome is already recorded. */
export async function recordScheduled(ctx: Ctx, firing: RuleFiring): Promise<void> {
  const values = firingRow(ctx, firing, { outcome: "scheduled", message: null, madeId: null });
  await commit(ctx, ctx.db.insert(ruleFirings).values(values).onConflictDoNothing());
}

/** Records that a firing failed, and why. */
export async function recordFailed(ctx: Ctx, firing: RuleFiring, message: string): Promise<void> {
  await commit(ctx, upsertFiring(ctx, firing, { outcome: "failed", message, madeId: null }));
}

/** Records that a firing was dropped because rules are paused, unless it had taken effect before. */
async function recordPaused(ctx: Ctx, firing: RuleFiring): Promise<void> {
  const outcome: Outcome = { outcome: "dropped", message: PAUSED, madeId: null };
  const insert = ctx.db.insert(ruleFirings).values(firingRow(ctx, firing, outcome));
  const target = [ruleFirings.eventId, ruleFirings.ruleId];
  await commit(ctx, insert.onConflictDoUpdate({ target, set: outcome, setWhere: eq(ruleFirings.outcome, "scheduled") }));
}

async function execute(ctx: Ctx, firing: RuleFiring, plan: Plan): Promise<void> {
  switch (plan.kind) {
    case "problem":
      return recordFailed(ctx, firing, plan.message);
    case "paused":
      return recordPaused(ctx, firing);
    case "broadcast":
      return send(ctx, firing, plan);
    case "channel":
      return createChannel(ctx, firing, plan);
    case "lock":
      return lockPoll(ctx, firing, plan.pollId);
  }
}

async function send(ctx: Ctx, firing: RuleFiring, plan: Extract<Plan, { kind: "broadcast" }>): Promise<void> {
  const event: BroadcastEvent = { ...plan.event, broadcast: withAdjustedTimes(plan.event.broadcast, ctx.now) };
  const { broadcastId, overlayId } = event.broadcast;
  const record = upsertFiring(ctx, firing, { outcome: "sent", message: plan.message, madeId: broadcastId });
  let eventIds: string[] = [];
  await wonRace(async () => {
    eventIds = await commitIfUnchanged(ctx, [insertRows(ctx, event), record], {
      type: "overlay.broadcast",
      resource: `overlay/${overlayId}`,
      data: { ...event },
    });
  });
  try {
    await sendBroadcast(ctx.env, ctx.siteId, event);
    ctx.emitted.completedEventIds.push(...eventIds);
  } catch (error) {
    // It is committed: the event's effect delivers it as soon as the channel is reachable.
    logError("broadcast_late", error, { siteId: ctx.siteId, broadcastId });
  }
}

/** The broadcast as sent at `now`; one with a timecode keeps its times. */
function withAdjustedTimes(broadcast: Broadcast, now: number): Broadcast {
  const late = now - broadcast.startsAt;
  if (late <= LATE_MS || broadcast.timecode !== undefined) return broadcast;
  return { ...broadcast, startsAt: now, endsAt: broadcast.endsAt + late };
}

async function createChannel(ctx: Ctx, firing: RuleFiring, { id, name, slug }: Extract<Plan, { kind: "channel" }>): Promise<void> {
  const [existing] = await ctx.db.select({ id: pages.id }).from(pages).where(eq(pages.id, id));
  if (!existing) await createPage(ctx, CreatePage.parse({ type: "channel", slug, data: { name } }), id);
  await commit(ctx, upsertFiring(ctx, firing, { outcome: "created", message: null, madeId: id }));
}

async function lockPoll(ctx: Ctx, firing: RuleFiring, pollId: string): Promise<void> {
  try {
    const message = await switchPoll(ctx, pollId, false);
    await commit(ctx, upsertFiring(ctx, firing, { outcome: "locked", message, madeId: null }));
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
    await recordFailed(ctx, firing, error.message);
  }
}

function upsertFiring(ctx: Ctx, firing: RuleFiring, outcome: Outcome) {
  return ctx.db
    .insert(ruleFirings)
    .values(firingRow(ctx, firing, outcome))
    .onConflictDoUpdate({ target: [ruleFirings.eventId, ruleFirings.ruleId], set: outcome });
}

function firingRow({ siteId }: Ctx, { rule, event, due }: RuleFiring, outcome: Outcome): typeof ruleFirings.$inferInsert {
  return { eventId: event.id, ruleId: rule.id, siteId, ruleName: rule.name, due, created: event.at, ...outcome };
}
