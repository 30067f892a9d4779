import type { Caller, TestSite } from "./harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { ActiveBroadcast, BroadcastAnswer, ClearAnswer, Overlay } from "#worker/services/overlays/schemas.ts";

const BroadcastList = listOf(ActiveBroadcast);

export const html = { kind: "html", html: "<b>Goal!</b> {{scorer}}", position: "bottomCenter", variables: { scorer: "Nobody" } };

/** Broadcast calls for tests. `site` is a function because suites create their site in `beforeAll`. */
export function broadcastCalls(site: () => TestSite) {
  async function newOverlay(change: Record<string, unknown> = {}, on = site()): Promise<string> {
    const body = { name: "Goal", description: "", siteId: on.id, type: "template", duration: 60, contents: [html], ...change };
    return (await on.call("createOverlay", { body })).as(Overlay)._id;
  }

  async function send(id: string, body: Record<string, unknown> = {}, on = site()) {
    return (await on.call("broadcastOverlay", { params: { id }, body })).as(BroadcastAnswer).broadcasts;
  }

  const sendToTag = (id: string, tagId: string, body: Record<string, unknown>, as: Caller) =>
    site().call("broadcastOverlayToTag", { params: { id, tagId }, body, as });

  async function active(query: Record<string, string> = {}, on = site()) {
    return (await on.call("listBroadcasts", { query })).as(BroadcastList).results;
  }

  async function clear(body: Record<string, unknown> | undefined, query: Record<string, string> = {}, on = site()) {
    return (await on.call("clearBroadcasts", { body, query })).as(ClearAnswer).cleared;
  }

  return { newOverlay, send, sendToTag, active, clear };
}
