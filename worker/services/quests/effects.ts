import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { notifyQuestChange } from "./frames.ts";

export const effects: Effects = {
  "quest.created": notifyQuestChange,
  "quest.updated": notifyQuestChange,
  "quest.deleted": notifyQuestChange,
};
