import { ok } from "./client.ts";
import { TifoProblem } from "./problem.ts";

const ATTEMPTS = 3;

/** An item as it was read, with the version that the next change is based on. */
export interface Loaded<Item> {
  item: Item;
  etag: string | null;
}

export async function loaded<Item>(call: Parameters<typeof ok<Item>>[0]): Promise<Loaded<Item>> {
  return { item: await ok(call), etag: (await call).response.headers.get("ETag") };
}

/** The header that makes a change fail if somebody else was faster. */
export function ifMatch(etag: string | null): Record<string, string> {
  return etag === null ? {} : { "If-Match": etag };
}

/** Whether a change failed because somebody else was faster. */
export function isOutdated(error: unknown): boolean {
  return error instanceof TifoProblem && error.status === 412;
}

/** Changes an item as it is now: what somebody else changes at the same time is kept. */
export async function changeLatest<Item, Result>(
  read: () => Promise<Loaded<Item>>,
  change: (item: Item, headers: Record<string, string>) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const { item, etag } = await read();
    try {
      return await change(item, ifMatch(etag));
    } catch (error) {
      if (attempt === ATTEMPTS || !isOutdated(error)) throw error;
    }
  }
}
