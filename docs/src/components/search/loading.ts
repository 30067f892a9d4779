const BASE = "/";

/**
 * The path of a version's URL, without its trailing slash.
 * @throws Error "Unexpected version url" for a URL of another origin or outside the site
 */
export function versionFolder(versionUrl: string): string {
  const folder = new URL(versionUrl, location.origin);
  if (folder.origin !== location.origin || !folder.pathname.startsWith(BASE)) throw new Error("Unexpected version url");
  return folder.pathname.replace(/\/$/, "");
}

/** The value that `load` returned for this key earlier; a failed load is retried by the next call. */
export async function once<Value>(known: Map<string, Promise<Value>>, key: string, load: () => Promise<Value>): Promise<Value> {
  const loading = known.get(key) ?? load();
  known.set(key, loading);
  try {
    return await loading;
  } catch (error) {
    known.delete(key);
    throw error;
  }
}
