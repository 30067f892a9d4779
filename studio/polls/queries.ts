import type { TifoClient } from "#sdk/client/index.ts";
import { type Loaded, loaded } from "#sdk/client/latest.ts";
import type { Poll } from "./draft.ts";

export type LoadedPoll = Loaded<Poll>;

/** Of the generic table. */
export const POLLS_LIST = ["/polls", "list"] as const;

export const pollKey = (id: string) => ["poll", id] as const;

export function readPoll({ api }: TifoClient, id: string): Promise<LoadedPoll> {
  return loaded(api.GET("/poll/v3/{id}", { params: { path: { id } } }));
}
