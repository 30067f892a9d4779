/** The part of the browser's storage that Studio uses. */
export type KeyValueStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** The stored value, or null; browsers can block storage or fill up. */
export function recall(storage: KeyValueStorage, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores or, with null, deletes a value. If that fails, Studio continues without it. */
export function remember(storage: KeyValueStorage, key: string, value: string | null): void {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, value);
  } catch (cause) {
    console.warn("The browser couldn't store a setting. It lasts until this page closes.", cause);
  }
}
