import { env } from "cloudflare:workers";
import { OEMBED_PLAYERS } from "#worker/integrations/oembed.ts";

// Stand-ins for YouTube's Data API and the players' oEmbed endpoints, at the URLs that the Worker calls.

const realFetch = globalThis.fetch;

interface Item {
  snippet: Record<string, unknown>;
  contentDetails?: Record<string, unknown>;
}

export const youtube = {
  key: "youtube-key",
  /** Error statuses of the next calls. */
  errors: new Array<number>(),
  /** Public videos, and playlists with their videos. */
  videos: new Map<string, Item>(),
  playlists: new Map<string, Item & { videoIds: string[] }>(),
};

/** The responses of oEmbed endpoints by the requested URL; all others are a 404. */
export const oembed = new Map<string, { player: string; status?: number; body: unknown }>();

/** Publishes a video with only the fields that YouTube always returns. */
export function publishVideo(id: string, snippet: Record<string, unknown> = {}, duration = "PT5M12S"): void {
  youtube.videos.set(id, { snippet: { title: `Video ${id}`, description: "", ...snippet }, contentDetails: { duration } });
}

publishVideo("dQw4w9WgXcQ");
youtube.playlists.set("PL-match-highlights", { snippet: { title: "Highlights", description: "" }, videoIds: ["dQw4w9WgXcQ"] });

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.href.startsWith(`${env.TIFO_YOUTUBE_URL}/`)) return youtubeResponse(url, new Headers(init?.headers));
    const match = OEMBED_PLAYERS.find(({ endpoint }) => endpoint === url.origin + url.pathname);
    return match ? oembedResponse(match.player, url.searchParams) : realFetch(input, init);
  },
});

function youtubeResponse({ pathname, searchParams }: URL, headers: Headers): Response {
  if (headers.get("X-Goog-Api-Key") !== youtube.key) return Response.json({ error: { code: 403 } }, { status: 403 });
  const error = youtube.errors.shift();
  if (error !== undefined) return Response.json({ error: { code: error } }, { status: error });
  const ids = (searchParams.get("id") ?? "").split(",");
  if (pathname.endsWith("/videos")) return Response.json({ items: itemsOf(youtube.videos, ids) });
  if (pathname.endsWith("/playlists")) return Response.json({ items: itemsOf(youtube.playlists, ids) });
  const found = youtube.playlists.get(searchParams.get("playlistId") ?? "");
  if (!found) return Response.json({ error: { code: 404 } }, { status: 404 });
  const start = Number(searchParams.get("pageToken") ?? "");
  const end = start + Number(searchParams.get("maxResults") ?? "5");
  const items = found.videoIds.slice(start, end).map((videoId) => ({ contentDetails: { videoId } }));
  return Response.json({ items, ...(end < found.videoIds.length && { nextPageToken: String(end) }) });
}

function itemsOf(known: Map<string, Item>, ids: string[]) {
  return [...new Set(ids)].flatMap((id) => {
    const item = known.get(id);
    return item ? [{ id, snippet: item.snippet, contentDetails: item.contentDetails }] : [];
  });
}

function oembedResponse(player: string, query: URLSearchParams): Response {
  const known = oembed.get(query.get("url") ?? "");
  if (known?.player !== player || query.get("format") !== "json") return new Response("Not Found", { status: 404 });
  return Response.json(known.body, { status: known.status ?? 200 });
}
