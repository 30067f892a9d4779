import { forbidden } from "#worker/lib/errors.ts";
import { isSiteAdmin, managesPage } from "#worker/lib/roles.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";

/** Throws a 403 for a channel admin who asks for another channel, or for the whole site. Call it after the first read, or it costs one. */
export async function requireFigures(ctx: Ctx, channelId: string | undefined): Promise<void> {
  const caller = await ctx.caller();
  if (caller.kind !== "account" || mayReadFigures(caller, channelId)) return;
  throw forbidden(channelId === undefined ? "Name one of your channels as channelId" : "No permission for this channel");
}

/** Whether an account may read the figures of a channel; undefined for those of the whole site. */
export function mayReadFigures({ roles }: Extract<Actor, { kind: "account" }>, channelId: string | undefined): boolean {
  return channelId === undefined ? isSiteAdmin(roles, "read") : managesPage(roles, channelId, "read");
}
