import { SharedDeliveries } from "#worker/durable-objects/branch/shared-deliveries.ts";
import { branchStubOf, relayOf } from "#worker/durable-objects/stubs.ts";
import type { ChatBatch, ChatDelivered, RoomPosition } from "./chat-room.protocol.ts";
import type { RelayCalls } from "./room-fan-out.ts";

/** A branch returns sooner, even if its relays don't. */
const TIMEOUT_MS = 4_000;
const WHERE = {};

/** How a room reaches the relays of its channel. */
export function relayCalls(env: Env, siteId: string, channelId: string): Pick<RelayCalls, "deliver" | "ask"> {
  const batches = new SharedDeliveries<ChatBatch, ChatDelivered>(
    {
      direct: async (relay, batch) => await relayOf(env, siteId, channelId, relay).deliverChat(batch),
      through: async (branch, relays, batch) => await branchStubOf(env, siteId, channelId, branch).deliverChat(relays, batch),
    },
    TIMEOUT_MS,
  );
  const questions = new SharedDeliveries<typeof WHERE, RoomPosition | null>(
    {
      direct: async (relay) => await relayOf(env, siteId, channelId, relay).chatPosition(),
      through: async (branch, relays) => await branchStubOf(env, siteId, channelId, branch).chatPosition(relays),
    },
    TIMEOUT_MS,
  );
  return {
    deliver: (relay, batch, alone) => batches.deliver(relay, batch, alone),
    ask: (relay) => questions.deliver(relay, WHERE, false),
  };
}
