import { dataOf, type Effects } from "#worker/services/event-catalogue/effect.ts";
import { sendClear, sendUncleared } from "./broadcasts.ts";
import { sendRetraction } from "./retractions.ts";

// Requests send broadcasts themselves, so that viewers don't wait for the log; these effects only guarantee delivery.
export const effects: Effects = {
  "overlay.broadcast": (env, siteId, event) => sendUncleared(env, siteId, dataOf(event)),
  "overlay.cleared": (env, siteId, event) => sendClear(env, siteId, dataOf(event)),
  "overlay.retracted": (env, siteId, event) => sendRetraction(env, siteId, dataOf(event)),
};
