/*
 * Where the browser blocks storage, a script in each page's head has warned once and put storage that lasts as long as
 * the page in its place (overrides/theme-provider.astro). What may still fail is a full one.
 */

/** Keeps a value in the browser for later visits; where that fails the page runs on without it. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch (cause) {
    console.warn("The choice lasts until this page closes: it could not be stored.", cause);
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

/** Drops what `remember` kept. */
export function forget(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
