import type { z } from "@hono/zod-openapi";
import type { ScheduledActionRow } from "#db/schema/schedule.ts";
import type { ScheduledPayload } from "#db/types.ts";
import { Failure, forbidden } from "#worker/lib/errors.ts";
import { isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { Reference, ReferenceKind } from "#worker/services/core/references.ts";
import { broadcastOverlay, checkBroadcast } from "#worker/services/overlays/broadcasts.ts";
import { getOverlay } from "#worker/services/overlays/overlays.ts";
import { BroadcastInput } from "#worker/services/overlays/schemas.ts";
import { getPoll, switchPoll } from "#worker/services/polls/polls.ts";
import { requireChannelAdmin } from "#worker/services/quests/channel-admins.ts";
import { getQuest } from "#worker/services/quests/quests.ts";
import { announceQuest, switchQuest } from "#worker/services/quests/phases.ts";

/** What the row of an action says of its target. */
interface Target {
  name: string;
  channelId: string | null;
  payload: ScheduledPayload;
  /** What must still exist when the row is inserted. */
  references: Reference[];
}

interface Request {
  id: string;
  kind: ScheduledActionRow["kind"];
  targetId: string;
  broadcast?: z.output<typeof BroadcastInput> | undefined;
}

/** Checks an action when it is scheduled: its target must exist, and the caller must have the right to do it now. */
export async function checkAction(ctx: Ctx, { id, kind, targetId, broadcast }: Request): Promise<Target> {
  await requireRight(ctx, kind);
  const target = (of: ReferenceKind): Reference[] => [{ kind: of, id: targetId, path: "targetId" }];
  switch (kind) {
    case "overlay.broadcast": {
      const payload = broadcast ?? BroadcastInput.parse({});
      const { name } = await getOverlay(ctx, targetId);
      const { channelIds, references } = await inBroadcast(() => checkBroadcast(ctx, targetId, payload, id));
      return { name, channelId: onlyOf(channelIds ?? []), payload, references: [...target("overlay"), ...references.map(ofBroadcast)] };
    }
    case "poll.open":
    case "poll.close":
      return { name: (await getPoll(ctx, targetId)).name, channelId: null, payload: {}, references: target("poll") };
    case "quest.open":
    case "quest.close": {
      const { title, channelIds } = await getQuest(ctx, targetId);
      await requireChannelAdmin(ctx, channelIds);
      return { name: title, channelId: onlyOf(channelIds), payload: {}, references: target("quest") };
    }
  }
}

/** Runs a check whose errors name the fields of a broadcast's request, which is part of that of the action. */
async function inBroadcast<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof Failure) || !error.issues) throw error;
    throw new Failure(error.code, error.message, { issues: error.issues.map(ofBroadcast) });
  }
}

function ofBroadcast<T extends { path: string }>(named: T): T {
  return { ...named, path: `broadcast.${named.path}` };
}

/** Does what is scheduled, by the rights that the context's caller has now. Returns why, if there is nothing left to do. */
export async function runAction(ctx: Ctx, { id, kind, targetId, source, payload, dueAt }: ScheduledActionRow): Promise<string | null> {
  if (source === "request") await requireRight(ctx, kind);
  switch (kind) {
    case "overlay.broadcast":
      await broadcastOverlay(ctx, targetId, BroadcastInput.parse(payload), id, { skipsMissing: true });
      return null;
    case "poll.open":
    case "poll.close":
      return switchPoll(ctx, targetId, kind === "poll.open");
    case "quest.open":
    case "quest.close":
      if (source === "quest") return announceQuest(ctx, targetId, kind === "quest.open", dueAt);
      return switchQuest(ctx, targetId, kind === "quest.open");
  }
}

/** A key needs the role of the area; of accounts, only site admins change polls. Overlays and quests check their channels themselves. */
export async function requireRight(ctx: Ctx, kind: ScheduledActionRow["kind"]): Promise<void> {
  const actor = await ctx.caller();
  const [area = ""] = kind.split(".");
  if (actor.kind === "developer" && !keyAllows(actor.roles, area, "write"))
    throw forbidden(`The developer key lacks the role ${area}:write`);
  if (actor.kind === "account" && area === "poll" && !isSiteAdmin(actor.roles, "write"))
    throw forbidden("Only admins of the site may open and close polls");
}

function onlyOf(channelIds: string[]): string | null {
  return channelIds.length === 1 ? (channelIds[0] ?? null) : null;
}
