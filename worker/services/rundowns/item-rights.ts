import type { RundownItem } from "#db/types.ts";
import { forbidden } from "#worker/lib/errors.ts";
import { isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import { type Actor, type Ctx } from "#worker/services/core/context.ts";
import type { Reference } from "#worker/services/core/references.ts";
import { requireChannelAdmin } from "#worker/services/quests/channel-admins.ts";
import { getQuest } from "#worker/services/quests/quests.ts";
import { findStream } from "#worker/services/streams/streams.ts";

/** What a key's roles must allow to add an item of a kind. */
const AREAS: Record<RundownItem["kind"], string | null> = {
  broadcast: "overlay",
  poll: "poll",
  quest: "quest",
  raffle: "quest",
  stream: "stream",
  wait: null,
  note: null,
};

const ALL_RIGHTS = { scope: "*" as const, pageId: [], write: true };

/** Adding or changing an item needs the right to do the same without a rundown; moving, renaming and timing it needs none. */
export async function requireItemRights(ctx: Ctx, items: RundownItem[], before: RundownItem[]): Promise<void> {
  const known = new Set(before.map(contentOf));
  const added = items.filter((item) => !known.has(contentOf(item)));
  const actor = await ctx.caller();
  if (actor.kind === "developer") return requireKeyRoles(actor.roles, added);
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, "write")) return;
  if (added.some(({ kind }) => kind === "poll")) throw forbidden("Only admins of the site may open, close and settle polls");
  const idsOf = (...kinds: RundownItem["kind"][]) => new Set(added.filter(({ kind }) => kinds.includes(kind)).map(targetIn));
  for (const id of idsOf("quest", "raffle")) await requireChannelAdmin(ctx, (await getQuest(ctx, id)).channelIds);
  for (const id of idsOf("stream")) await findStream(ctx, id, "write");
}

/**
 * The context in which an item is taken: whoever runs the channel's rundowns may take what somebody with the right has put there. Events
 * still name who took it.
 */
export function delegated(ctx: Ctx): Ctx {
  const caller = async (): Promise<Actor> => {
    const actor = await ctx.caller();
    return actor.kind === "account" ? { ...actor, roles: [...actor.roles, ALL_RIGHTS] } : actor;
  };
  // If-Match is about the rundown, not about the poll or quest.
  return { ...ctx, caller, ifMatch: undefined };
}

/** The references of a rundown's items. */
export function inRundown(items: RundownItem[]): Reference[] {
  return items.flatMap((item, index): Reference[] => {
    const path = `items.${index}`;
    switch (item.kind) {
      case "broadcast":
        return [
          { kind: "overlay", path: `${path}.overlayId`, id: item.overlayId },
          ...(typeof item.broadcast.segment === "string"
            ? [{ kind: "segment" as const, path: `${path}.broadcast.segment`, id: item.broadcast.segment }]
            : []),
        ];
      case "poll":
        return [{ kind: "poll", path: `${path}.pollId`, id: item.pollId }];
      case "quest":
      case "raffle":
        return [{ kind: "quest", path: `${path}.questId`, id: item.questId }];
      case "stream":
        return [{ kind: "stream", path: `${path}.streamId`, id: item.streamId }];
      case "wait":
      case "note":
        return [];
    }
  });
}

function requireKeyRoles(roles: string[], items: RundownItem[]): void {
  const missing = items.map(({ kind }) => AREAS[kind]).find((area) => area !== null && !keyAllows(roles, area, "write"));
  if (missing) throw forbidden(`The developer key lacks the role ${missing}:write`);
}

/** What an item does, without its place, name, notes and time. */
function contentOf(item: RundownItem): string {
  return JSON.stringify({ ...item, name: "", notes: "", at: null });
}

function targetIn(item: RundownItem): string {
  return "questId" in item ? item.questId : "streamId" in item ? item.streamId : "";
}
