import { ok } from "#sdk/client/index.ts";
import type { Poll } from "./draft.ts";

/** Of the generic table. */
export const POLLS_LIST = ["/polls", "list"] as const;

export const pollKey = (id: string) => ["poll", id] as const;

/** A poll with the version that its next change must be based on. */
export interface LoadedPoll {
  poll: Poll;
  etag: string | null;
}

export async function tagged(call: Promise<{ data?: Poll; error?: unknown; response: Response }>): Promise<LoadedPoll> {
  const poll = await ok(call);
  return { poll, etag: (await call).response.headers.get("ETag") };
}
