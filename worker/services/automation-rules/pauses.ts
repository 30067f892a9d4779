import { and, eq } from "drizzle-orm";
import { rulePauses, type RulePauseRow } from "#db/schema/automation-rules.ts";
import { pages } from "#db/schema/pages.ts";
import { notFound, rerunOnDuplicate } from "#worker/lib/errors.ts";
import type { Action } from "#worker/lib/roles.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, ownRow, requirePage } from "#worker/services/core/context.ts";
import { guardReferences } from "#worker/services/core/references.ts";
import { refreshRules } from "./automation.ts";
import type { RulePause } from "./schemas.ts";

export async function getRulePause(ctx: Ctx, channelId: string): Promise<RulePause> {
  return toPause(channelId, await readPause(ctx, channelId, "read"));
}

/** Pauses or resumes the channel's rules. Once this resolves, the server's rules are; an effect notifies viewers' pages. */
export async function setRulePause(ctx: Ctx, channelId: string, paused: boolean): Promise<RulePause> {
  const current = await readPause(ctx, channelId, "write");
  if (paused === (current !== undefined)) {
    // The request that paused them may have failed before the rules were reloaded.
    await refreshRules(ctx);
    return toPause(channelId, current);
  }
  const row: RulePauseRow = { channelId, siteId: ctx.siteId, since: ctx.now };
  const next = toPause(channelId, paused ? row : undefined);
  const event: NewEvent = { type: `personalization.rules${paused ? "Paused" : "Resumed"}`, resource: `page/${channelId}`, data: next };
  if (paused) {
    const guard = guardReferences(ctx, [{ kind: "channel", id: channelId, path: "channelId" }]);
    const insert = ctx.db.insert(rulePauses).values(row);
    await rerunOnDuplicate("rule_pauses.channel_id", () => commitIfUnchanged(ctx, [...guard, insert], event));
  } else {
    await commitIfUnchanged(ctx, ctx.db.delete(rulePauses).where(ofChannel(ctx, channelId)), event);
  }
  await refreshRules(ctx);
  return next;
}

/** The channel's pause; a 404 unless the site has the channel, and a 403 unless the caller runs it. */
async function readPause(ctx: Ctx, channelId: string, action: Action): Promise<RulePauseRow | undefined> {
  const [[channel], [pause]] = await ctx.db.batch([
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel"))),
    ctx.db.select().from(rulePauses).where(ofChannel(ctx, channelId)),
  ]);
  if (!channel) throw notFound("Channel not found");
  await requirePage(ctx, channelId, action);
  return pause;
}

function ofChannel({ siteId }: Ctx, channelId: string) {
  return and(eq(rulePauses.siteId, siteId), eq(rulePauses.channelId, channelId));
}

function toPause(channelId: string, pause: RulePauseRow | undefined): RulePause {
  return { channelId, paused: pause !== undefined, since: pause?.since ?? null };
}
