import { type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { enqueueExport } from "./exports.ts";

export const effects: Effects = {
  "community.exportRequested": (env, siteId, event) => enqueueExport(env, siteId, idOf(event)),
};
