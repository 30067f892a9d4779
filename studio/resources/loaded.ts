import { ok } from "#sdk/client/index.ts";

/** An item as it was read, with the version that the next change is based on. */
export interface Loaded<Item> {
  item: Item;
  etag: string | null;
}

export async function loaded<Item>(call: Parameters<typeof ok<Item>>[0]): Promise<Loaded<Item>> {
  return { item: await ok(call), etag: (await call).response.headers.get("ETag") };
}
