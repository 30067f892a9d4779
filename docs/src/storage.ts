/*
 * If the browser blocks storage, a script in the head of each page replaces it with storage that lasts as long as the page
 * (overrides/theme-provider.astro). Writing can still fail if storage is full.
 */

/** Stores a value in the browser for later visits; if that fails, the page continues without it. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch (cause) {
    console.warn("The choice couldn't be stored. It lasts until this page closes.", cause);
  }
}

/** The value that `remember` stored, or null. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Deletes the value that `remember` stored. */
export function forget(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}
