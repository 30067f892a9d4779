import type { Schemas, TifoClient } from "#sdk/client/index.ts";
import { ifMatch, type Loaded, loaded } from "#sdk/client/latest.ts";
import { once } from "#studio/api/once.ts";

export type LoadedQuest = Loaded<Schemas["Quest"]>;

/** Of the generic table. */
export const QUESTS_LIST = ["/quests", "list"] as const;

export const questKey = (id: string) => ["quest", id] as const;

export function readQuest({ api }: TifoClient, id: string): Promise<LoadedQuest> {
  return loaded(api.GET("/quest/v2/{id}", { params: { path: { id } } }));
}

/** Creates a quest, or changes the one that was loaded; a 412 if somebody else has changed it. */
export function saveQuest({ api }: TifoClient, before: LoadedQuest | null, body: Schemas["QuestInput"]): Promise<LoadedQuest> {
  if (!before) return loaded(api.POST("/quest/v2", { body, ...once }));
  const params = { path: { id: before.item._id } };
  return loaded(api.PUT("/quest/v2/{id}", { params, body, headers: ifMatch(before.etag) }));
}
