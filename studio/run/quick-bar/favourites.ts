import { type KeyValueStorage, recall, remember } from "#studio/ui/storage.ts";

const MOST = 12;
const keyOf = (channelId: string) => `tifo.studio.run.favourites.${channelId}`;

/** The overlays on a channel's quick bar, in this browser. */
export function storedFavourites(storage: KeyValueStorage, channelId: string): string[] {
  try {
    const value: unknown = JSON.parse(recall(storage, keyOf(channelId)) ?? "[]");
    return Array.isArray(value) ? value.filter((id) => typeof id === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function storeFavourites(storage: KeyValueStorage, channelId: string, ids: readonly string[]): void {
  remember(storage, keyOf(channelId), ids.length === 0 ? null : JSON.stringify(ids.slice(0, MOST)));
}

/** Adds an overlay at the end, or takes it off. */
export function toggled(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id].slice(-MOST);
}
