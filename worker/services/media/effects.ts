import { type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { deleteFile } from "./media.ts";

export const effects: Effects = {
  "media.deleted": (env, _siteId, event) => deleteFile(env, idOf(event)),
};
