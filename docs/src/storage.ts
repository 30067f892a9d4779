/** Keeps a value in the browser for later visits; where storage is blocked the page runs on without it. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch (cause) {
    console.warn("Storage is unavailable; the choice lasts until this page closes.", cause);
  }
}

/** What `remember` kept, or null. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
