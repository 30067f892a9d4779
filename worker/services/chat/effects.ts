import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { refreshRooms } from "./rooms.ts";

// Repeats for the rooms what the requests have already done, unless one failed in between.
export const effects: Effects = {
  "chat.banned": (env, siteId, event) => refreshRooms(env, siteId, dataOf(event).channelId),
  "chat.unbanned": (env, siteId, event) => refreshRooms(env, siteId, dataOf(event).channelId),
  "chat.settingsUpdated": (env, siteId, event) => refreshRooms(env, siteId, idOf(event)),
  "chat.messageApproved": (env, siteId, event) => chatRoomOf(env, siteId, dataOf(event).channelId).approve(idOf(event)),
  "chat.messageRemoved": (env, siteId, event) => chatRoomOf(env, siteId, dataOf(event).channelId).remove(idOf(event)),
  // A chat panel has the filtered words and the name of the site's own messages.
  "panel.updated": async (env, siteId, event) => {
    if (dataOf(event).renderer.panel_type === "chat") await refreshRooms(env, siteId, null);
  },
  "panel.deleted": async (env, siteId, event) => {
    if (dataOf(event).renderer.panel_type === "chat") await refreshRooms(env, siteId, null);
  },
};
