import { ok, type Schemas } from "#sdk/client/index.ts";

/** Of the generic table. */
export const QUESTS_LIST = ["/quests", "list"] as const;
export const questKey = (id: string) => ["quest", id] as const;

type Quest = Schemas["Quest"];

/** A quest with the version that its next change must be based on. */
export interface LoadedQuest {
  quest: Quest;
  etag: string | null;
}

export async function tagged(call: Promise<{ data?: Quest; error?: unknown; response: Response }>): Promise<LoadedQuest> {
  const quest = await ok(call);
  return { quest, etag: (await call).response.headers.get("ETag") };
}
