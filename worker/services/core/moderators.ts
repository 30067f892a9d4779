import { forbidden } from "#worker/lib/errors.ts";
import { type Action, moderatedChannels, moderatesChannel, type ModeratorScope } from "#worker/lib/roles.ts";
import type { Actor, Ctx } from "./context.ts";

// Who moderates a channel's chat or Q&A. A developer key acts as a site admin; the operation has already checked its own roles.

/** Throws a 403 unless the caller moderates this channel's chat. */
export async function requireChatModerator(ctx: Ctx, channelId: string, action: Action = "write"): Promise<void> {
  if (!mayModerate(await ctx.caller(), "Chat_Moderator", channelId, action))
    throw forbidden("No permission to moderate this channel's chat");
}

/** Throws a 403 unless the caller moderates this channel's Q&A. */
export async function requireQuestionModerator(ctx: Ctx, channelId: string, action: Action = "write"): Promise<void> {
  if (!mayModerate(await ctx.caller(), "Question_Answer_Moderator", channelId, action))
    throw forbidden("No permission to moderate this channel's questions");
}

/** Whether this caller moderates the channel; for responses that contain more for moderators, with `action` "read". */
export function mayModerate(actor: Actor, scope: ModeratorScope, channelId: string, action: Action): boolean {
  if (actor.kind === "account") return moderatesChannel(actor.roles, scope, channelId, action);
  return actor.kind === "developer" || actor.kind === "system";
}

/** The channels that the caller moderates: all, or those listed. */
export async function channelsModeratedBy(ctx: Ctx, scope: ModeratorScope, action: Action): Promise<"all" | string[]> {
  const actor = await ctx.caller();
  if (actor.kind === "account") return moderatedChannels(actor.roles, scope, action);
  return actor.kind === "developer" || actor.kind === "system" ? "all" : [];
}
