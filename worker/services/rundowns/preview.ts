import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { previewBroadcast } from "#worker/services/overlays/broadcasts.ts";
import { broadcastOf } from "./item-actions.ts";
import { delegated } from "./item-rights.ts";
import { getRundown } from "./rundowns.ts";
import type { RundownPreview, RundownPreviewInput } from "./schemas.ts";
import { nextItem } from "./steps.ts";

/** What viewers would get from an item now. Nothing is sent or stored. */
export async function previewItem(ctx: Ctx, id: string, { itemId, variables }: RundownPreviewInput): Promise<RundownPreview> {
  const rundown = await getRundown(ctx, id, "read");
  const item = itemId === undefined ? nextItem(rundown) : rundown.items.find(({ _id }) => _id === itemId);
  if (!item) {
    if (itemId === undefined) throw notFound("Nothing follows in the rundown");
    throw invalid("itemId", "The rundown has no item with this id");
  }
  if (item.kind !== "broadcast") {
    if (variables) throw invalid("variables", "Only for broadcasts");
    return { itemId: item._id, overlay: null };
  }
  const input = broadcastOf(item.broadcast, rundown.channelId, variables);
  return { itemId: item._id, overlay: toShown(await previewBroadcast(delegated(ctx), item.overlayId, input, newId(ctx.now))) };
}

/** What a viewer gets of a broadcast. */
function toShown(broadcast: Broadcast): RundownPreview["overlay"] {
  const { broadcastId, overlayId, startsAt, endsAt, position, contents, cta } = broadcast;
  const { variables, priority, timecode, segment, broadcastPayload } = broadcast;
  return {
    ...{ broadcastId, overlayId, startsAt, endsAt, position, contents, cta },
    ...{ variables, priority, timecode, segment, broadcastPayload },
  };
}
