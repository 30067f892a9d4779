import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { notifyWentLive, notifyWentOffline } from "./frames.ts";

export const effects: Effects = {
  "admin.wentLive": notifyWentLive,
  "admin.wentOffline": notifyWentOffline,
};
