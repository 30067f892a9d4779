// A stand-in for the servers of HLS playlists, at any URL that a test publishes.

/** A host that every test site allows. */
export const PLAYLIST_HOST = "live.demo.example";

interface Published {
  body: string;
  status: number;
  headers: Record<string, string>;
}

const published = new Map<string, Published>();
const loads = new Map<string, number>();
const realFetch = globalThis.fetch;

/** Publishes a playlist, or another response, at this URL; returns the URL. */
export function servePlaylist(
  url: string,
  body: string,
  { status = 200, type = "application/vnd.apple.mpegurl", headers = {} } = {},
): string {
  published.set(url, { body, status, headers: { "Content-Type": type, ...headers } });
  return url;
}

/** How often a URL was loaded. */
export function loadsOf(url: string): number {
  return loads.get(url) ?? 0;
}

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    const found = published.get(url);
    if (!found) return realFetch(input, init);
    loads.set(url, loadsOf(url) + 1);
    return new Response(found.body, { status: found.status, headers: found.headers });
  },
});
