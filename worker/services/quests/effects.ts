import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { notifyQuestProgress } from "./frames.ts";

export const effects: Effects = {
  "quest.created": notifyQuestProgress,
  "quest.updated": notifyQuestProgress,
  "quest.deleted": notifyQuestProgress,
};
