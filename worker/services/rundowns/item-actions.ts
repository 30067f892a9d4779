import type { RundownItem } from "#db/types.ts";
import { invalid } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { broadcastOverlay } from "#worker/services/overlays/broadcasts.ts";
import { BroadcastInput } from "#worker/services/overlays/schemas.ts";
import { settlePoll, switchPoll } from "#worker/services/polls/polls.ts";
import { switchQuest } from "#worker/services/quests/phases.ts";
import { drawRaffle } from "#worker/services/quests/raffles.ts";
import type { TakeInput } from "./schemas.ts";

const NOTHING_LEFT = "There was nothing left to do";

interface Taken {
  rundown: { channelId: string };
  item: RundownItem;
  variables?: TakeInput["variables"];
}

/** Does what an item says, in one commit. Returns why, if there was nothing to commit. A broadcast gets the id of the take. */
export async function runItem(ctx: Ctx, { rundown, item, variables }: Taken, takeId: string): Promise<string | null> {
  switch (item.kind) {
    case "broadcast":
      await broadcastOverlay(ctx, item.overlayId, broadcastOf(item.broadcast, rundown.channelId, variables), takeId);
      return null;
    case "poll":
      if (item.action !== "settle") return switchPoll(ctx, item.pollId, item.action === "open");
      await settlePoll(ctx, item.pollId, item.correctAnswerId ?? undefined);
      return NOTHING_LEFT;
    case "quest":
      return switchQuest(ctx, item.questId, item.action === "open");
    case "raffle":
      await drawRaffle(ctx, item.questId, item.winners);
      return NOTHING_LEFT;
    case "stream":
      throw new Error("A stream is controlled after its take is recorded");
    case "wait":
    case "note":
      return null;
  }
}

/** What an item broadcasts, with variables that override its own. */
export function broadcastOf(own: Record<string, unknown>, channelId: string, variables: TakeInput["variables"]): BroadcastInput {
  const { variables: ownVariables } = BroadcastInput.parse(own);
  const input = BroadcastInput.safeParse({ ...own, channelId, variables: { ...ownVariables, ...variables } });
  if (!input.success) throw invalid("variables", "At most 100 variables, together with the item's own");
  return input.data;
}
