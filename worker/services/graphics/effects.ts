import { type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { deleteFiles } from "./graphics.ts";

export const effects: Effects = {
  "graphic.deleted": (env, _siteId, event) => deleteFiles(env, idOf(event)),
};
