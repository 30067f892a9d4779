import { Temporal } from "temporal-polyfill";
import { z } from "@hono/zod-openapi";
import { Failure, invalid } from "#worker/lib/errors.ts";
import { parseJson } from "#worker/lib/json.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { callOut } from "#worker/lib/network/outbound.ts";

/** Videos imported from one playlist; YouTube allows up to 5,000. */
export const MAX_IMPORTED = 200;
const PAGE = 50;
/** Pages read from one playlist, even if few of its videos are public. */
const MAX_PAGES = 100;
// A page of videos with descriptions and tags of maximum length.
const MAX_BYTES = 2 * 1024 * 1024;
const SIZES = ["maxres", "standard", "high", "medium", "default"] as const;

/** Seconds of an ISO 8601 duration such as PT1H2M3S. */
const Seconds = z.string().transform((duration, issues) => {
  try {
    return Temporal.Duration.from(duration).total("seconds");
  } catch {
    issues.addIssue({ code: "custom", message: "Not a duration" });
    return z.NEVER;
  }
});

const VideoItem = z.object({
  id: z.string(),
  snippet: z.object({
    title: z.string(),
    description: z.string().default(""),
    publishedAt: z.string().optional(),
    tags: z.array(z.string()).default([]),
    liveBroadcastContent: z.string().optional(),
    thumbnails: z.partialRecord(z.enum(SIZES), z.object({ url: z.string() })).default({}),
  }),
  contentDetails: z.object({ duration: Seconds.optional() }).default({}),
});
const Videos = z.object({ items: z.array(VideoItem) });
const Playlists = z.object({ items: z.array(z.object({ snippet: z.object({ title: z.string(), description: z.string().default("") }) })) });
const PlaylistItems = z.object({
  items: z.array(z.object({ contentDetails: z.object({ videoId: z.string() }) })),
  nextPageToken: z.string().optional(),
});

/** A public video as YouTube describes it. */
export interface YoutubeVideo {
  url: string;
  title: string;
  description: string;
  durationSeconds: number;
  thumbnail: string | null;
  type: "vod" | "livestream";
  tags: string[];
  /** Milliseconds since 1970 UTC. */
  published: number | null;
}

export interface YoutubePlaylist {
  title: string;
  description: string;
  videos: YoutubeVideo[];
}

/** Whether the deployment has a key for YouTube's Data API. */
export function hasYoutube(env: Env): boolean {
  return optionalSecret(env, "TIFO_YOUTUBE_KEY") !== undefined;
}

/** The video id in a YouTube URL. */
export function youtubeVideoId(url: string): string | undefined {
  const { hostname, pathname, searchParams } = new URL(url);
  if (hostname === "youtu.be") return pathname.slice(1) || undefined;
  if (!isYoutube(hostname)) return undefined;
  return searchParams.get("v") ?? /^\/(?:embed|live|shorts)\/([\w-]+)/.exec(pathname)?.[1];
}

/** One public video; undefined if YouTube has none. */
export async function fetchYoutubeVideo(env: Env, id: string): Promise<YoutubeVideo | undefined> {
  return (await fetchVideos(env, [id]))[0];
}

/** A public playlist with its first public videos. A 400 at `url` if it isn't a playlist's URL. */
export async function fetchYoutubePlaylist(env: Env, url: string): Promise<YoutubePlaylist> {
  const { hostname, searchParams } = new URL(url);
  const id = searchParams.get("list");
  if (!id || !(hostname === "youtu.be" || isYoutube(hostname))) throw invalid("url", "Not the URL of a YouTube playlist");
  const found = await callApi(env, "playlists", { part: "snippet", id }, Playlists);
  const snippet = found?.items[0]?.snippet;
  if (!snippet) throw invalid("url", "YouTube has no such public playlist");
  return { ...snippet, videos: await fetchMembers(env, id) };
}

async function fetchMembers(env: Env, playlistId: string): Promise<YoutubeVideo[]> {
  const videos: YoutubeVideo[] = [];
  let pageToken: string | undefined = "";
  for (let pages = 0; pageToken !== undefined && pages < MAX_PAGES && videos.length < MAX_IMPORTED; pages++) {
    const query: Record<string, string> = { part: "contentDetails", playlistId, maxResults: String(PAGE), pageToken };
    const page: z.infer<typeof PlaylistItems> | undefined = await callApi(env, "playlistItems", query, PlaylistItems);
    const ids = page?.items.map(({ contentDetails }) => contentDetails.videoId) ?? [];
    if (ids.length > 0) videos.push(...(await fetchVideos(env, ids)));
    pageToken = page?.nextPageToken;
  }
  return videos.slice(0, MAX_IMPORTED);
}

/** In the order of the ids; YouTube omits private and deleted videos, and returns duplicates once. */
async function fetchVideos(env: Env, ids: string[]): Promise<YoutubeVideo[]> {
  const query = { part: "snippet,contentDetails", id: ids.join(","), maxResults: String(PAGE) };
  const found = await callApi(env, "videos", query, Videos);
  const byId = new Map(found?.items.map((item) => [item.id, toYoutubeVideo(item)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Queries the Data API; undefined if there is no such resource. The key is sent in a header, because URLs get logged. */
async function callApi<T extends z.ZodType>(
  env: Env,
  path: string,
  query: Record<string, string>,
  schema: T,
): Promise<z.output<T> | undefined> {
  const key = optionalSecret(env, "TIFO_YOUTUBE_KEY");
  if (key === undefined) throw new Failure("youtube_not_configured", "This deployment has no key for YouTube's Data API");
  const url = `${env.TIFO_YOUTUBE_URL}/${path}?${new URLSearchParams(query).toString()}`;
  const { status, text } = await callOut(env, url, { headers: { "X-Goog-Api-Key": key } }, { maxBytes: MAX_BYTES });
  if (status === 404) return undefined;
  const data = status === 200 ? schema.safeParse(parseJson(text)).data : undefined;
  if (data === undefined) throw new Failure("unavailable", `YouTube returned ${status}`);
  return data;
}

function toYoutubeVideo({ id, snippet, contentDetails }: z.infer<typeof VideoItem>): YoutubeVideo {
  const { title, description, tags, thumbnails, publishedAt } = snippet;
  const thumbnail = SIZES.flatMap((size) => thumbnails[size]?.url ?? [])[0] ?? null;
  const isLive = snippet.liveBroadcastContent === "live" || snippet.liveBroadcastContent === "upcoming";
  return {
    url: `https://www.youtube.com/watch?v=${id}`,
    title,
    description,
    tags,
    thumbnail: thumbnail?.startsWith("https://") ? thumbnail : null,
    durationSeconds: isLive ? 0 : (contentDetails.duration ?? 0),
    type: isLive ? "livestream" : "vod",
    published: publishedAt === undefined ? null : Date.parse(publishedAt),
  };
}

function isYoutube(hostname: string): boolean {
  return /^(www\.|m\.|music\.)?(youtube|youtube-nocookie)\.com$/.test(hostname);
}
