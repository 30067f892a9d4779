import { env } from "cloudflare:workers";
import { OEMBED_PLAYERS } from "#worker/integrations/oembed.ts";

// YouTube's Data API and the players' oEmbed endpoints for the tests, at the addresses at which the Worker asks for them.

const outside = globalThis.fetch;

interface Item {
  snippet: Record<string, unknown>;
  contentDetails?: Record<string, unknown>;
}

export const youtube = {
  key: "youtube-key",
  /** Statuses instead of answers, each once. */
  refusals: new Array<number>(),
  /** Public videos and playlists, and what a playlist holds. */
  videos: new Map<string, Item>(),
  playlists: new Map<string, Item & { videoIds: string[] }>(),
};

/** What an oEmbed endpoint answers, by the address that it is asked about; all others it doesn't know. */
export const oembed = new Map<string, { player: string; status?: number; body: unknown }>();

/** Publishes a video that YouTube describes with no more than it must. */
export function publishVideo(id: string, snippet: Record<string, unknown> = {}, duration = "PT5M12S"): void {
  youtube.videos.set(id, { snippet: { title: `Video ${id}`, description: "", ...snippet }, contentDetails: { duration } });
}

publishVideo("dQw4w9WgXcQ");
youtube.playlists.set("PL-match-highlights", { snippet: { title: "Highlights", description: "" }, videoIds: ["dQw4w9WgXcQ"] });

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.href.startsWith(`${env.TIFO_YOUTUBE_URL}/`)) return answerYoutube(url, new Headers(init?.headers));
    const asked = OEMBED_PLAYERS.find(({ endpoint }) => endpoint === url.origin + url.pathname);
    return asked ? answerOembed(asked.player, url.searchParams) : outside(input, init);
  },
});

function answerYoutube({ pathname, searchParams }: URL, headers: Headers): Response {
  if (headers.get("X-Goog-Api-Key") !== youtube.key) return Response.json({ error: { code: 403 } }, { status: 403 });
  const refusal = youtube.refusals.shift();
  if (refusal !== undefined) return Response.json({ error: { code: refusal } }, { status: refusal });
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

function answerOembed(player: string, question: URLSearchParams): Response {
  const known = oembed.get(question.get("url") ?? "");
  if (known?.player !== player || question.get("format") !== "json") return new Response("Not Found", { status: 404 });
  return Response.json(known.body, { status: known.status ?? 200 });
}
