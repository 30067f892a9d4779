import { and, eq } from "drizzle-orm";
import { type FiringRow, pages, ruleFirings } from "#db/schema/index.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { wonRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { CreatePage } from "#worker/services/pages/schemas.ts";
import { type Plan, planFirings, type RuleFiring } from "./plans.ts";
import { type BroadcastEvent, insertRows, sendBroadcast } from "#worker/services/overlays/broadcasts.ts";
import { commit, commitIfUnchanged, type Ctx } from "#worker/services/core/context.ts";
import { createPage } from "#worker/services/pages/pages.ts";

/** Later than this, an overlay's time counts from when it is sent: what a restart has held up isn't over before anybody saw it. */
const LATE_MS = 5_000;

type Outcome = Pick<FiringRow, "outcome" | "message" | "madeId">;

/**
 * Does what firings ask for and notes what came of each; safe to repeat, each takes effect once. One that fails for a reason of its own
 * says so in its note; one that the database or a channel kept from it is answered as an error, to be tried again, and holds up no other.
 */
export async function carryOut(ctx: Ctx, firings: RuleFiring[]): Promise<PromiseSettledResult<void>[]> {
  const plans = await planFirings(ctx, firings);
  return Promise.allSettled(
    plans.map(async (plan, index) => {
      const firing = firings[index];
      if (firing) await fulfil(ctx, firing, plan);
    }),
  );
}

/** Notes that a rule was gone or off when its delay was over. */
export async function noteDropped(ctx: Ctx, eventId: string, ruleId: string): Promise<void> {
  const row = and(eq(ruleFirings.eventId, eventId), eq(ruleFirings.ruleId, ruleId));
  await ctx.db.update(ruleFirings).set({ outcome: "dropped" }).where(row);
}

/** Notes that a firing is for later, unless there is a note of what has come of it since. */
export async function noteScheduled(ctx: Ctx, firing: RuleFiring): Promise<void> {
  const values = noteOf(ctx, firing, { outcome: "scheduled", message: null, madeId: null });
  await commit(ctx, ctx.db.insert(ruleFirings).values(values).onConflictDoNothing());
}

/** Notes that nothing comes of a firing, and why. */
export async function noteFailed(ctx: Ctx, firing: RuleFiring, message: string): Promise<void> {
  await commit(ctx, note(ctx, firing, { outcome: "failed", message, madeId: null }));
}

async function fulfil(ctx: Ctx, firing: RuleFiring, plan: Plan): Promise<void> {
  switch (plan.kind) {
    case "problem":
      return noteFailed(ctx, firing, plan.message);
    case "broadcast":
      return send(ctx, firing, plan);
    case "channel":
      return makeChannel(ctx, firing, plan);
  }
}

async function send(ctx: Ctx, firing: RuleFiring, plan: Extract<Plan, { kind: "broadcast" }>): Promise<void> {
  const event: BroadcastEvent = { ...plan.event, broadcast: outgoing(plan.event.broadcast, ctx.now) };
  const { broadcastId, overlayId } = event.broadcast;
  const noted = note(ctx, firing, { outcome: "sent", message: plan.message, madeId: broadcastId });
  let told: string[] = [];
  await wonRace(async () => {
    told = await commitIfUnchanged(ctx, [insertRows(ctx, event), noted], {
      type: "overlay.broadcast",
      resource: `overlay/${overlayId}`,
      data: { ...event },
    });
  });
  try {
    await sendBroadcast(ctx.env, ctx.siteId, event);
    ctx.emitted.completedEventIds.push(...told);
  } catch (error) {
    // It is committed: the site's log brings it to the channel as soon as that answers.
    logError("broadcast_late", error, { siteId: ctx.siteId, broadcastId });
  }
}

/** The broadcast as it goes out at `now`. One that waits for its picture keeps its time. */
function outgoing(broadcast: Broadcast, now: number): Broadcast {
  const late = now - broadcast.startsAt;
  if (late <= LATE_MS || broadcast.timecode !== undefined) return broadcast;
  return { ...broadcast, startsAt: now, endsAt: broadcast.endsAt + late };
}

async function makeChannel(ctx: Ctx, firing: RuleFiring, { id, name, slug }: Extract<Plan, { kind: "channel" }>): Promise<void> {
  const [there] = await ctx.db.select({ id: pages.id }).from(pages).where(eq(pages.id, id));
  if (!there) await createPage(ctx, CreatePage.parse({ type: "channel", slug, data: { name } }), id);
  await commit(ctx, note(ctx, firing, { outcome: "created", message: null, madeId: id }));
}

function note(ctx: Ctx, firing: RuleFiring, outcome: Outcome) {
  return ctx.db
    .insert(ruleFirings)
    .values(noteOf(ctx, firing, outcome))
    .onConflictDoUpdate({ target: [ruleFirings.eventId, ruleFirings.ruleId], set: outcome });
}

function noteOf({ siteId }: Ctx, { rule, event, due }: RuleFiring, outcome: Outcome): typeof ruleFirings.$inferInsert {
  return { eventId: event.id, ruleId: rule.id, siteId, ruleName: rule.name, due, created: event.at, ...outcome };
}
