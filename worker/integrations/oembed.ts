import { z } from "@hono/zod-openapi";
import type { VIDEO_PLAYERS } from "#db/enums.ts";
import { Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { parseJson } from "#worker/lib/json.ts";
import { callOut } from "#worker/lib/network/outbound.ts";
import { fetchYoutubeVideo, hasYoutube, youtubeVideoId } from "./youtube.ts";

interface OembedPlayer {
  player: (typeof VIDEO_PLAYERS)[number];
  /** Including their subdomains. */
  hosts: string[];
  endpoint: string;
}

/** The players that provide video metadata without credentials. */
export const OEMBED_PLAYERS: OembedPlayer[] = [
  { player: "youtube", hosts: ["youtube.com", "youtu.be"], endpoint: "https://www.youtube.com/oembed" },
  { player: "vimeo", hosts: ["vimeo.com"], endpoint: "https://vimeo.com/api/oembed.json" },
  { player: "dailymotion", hosts: ["dailymotion.com", "dai.ly"], endpoint: "https://www.dailymotion.com/services/oembed" },
  { player: "soundcloud", hosts: ["soundcloud.com"], endpoint: "https://soundcloud.com/oembed" },
  { player: "mixcloud", hosts: ["mixcloud.com"], endpoint: "https://app.mixcloud.com/oembed/" },
];

const Oembed = z.object({
  title: z.string().default(""),
  description: z.string().nullish(),
  thumbnail_url: z.string().nullish(),
  duration: z.number().nonnegative().nullish(),
});

/** A video's metadata from its player; unknown values are null. */
export interface FoundMetadata {
  title: string;
  description: string;
  durationSeconds: number | null;
  player: OembedPlayer["player"];
  thumbnail: string | null;
  type: "vod" | "livestream";
  url: string;
  tags: string[];
  created: number | null;
  modified: number | null;
}

/**
 * Fetches a video's metadata from its player: by oEmbed, or by YouTube's richer Data API if the deployment has a key.
 * A 400 at `url` for other players, a 404 if the player has no such public video.
 */
export async function findMetadata(env: Env, url: string): Promise<FoundMetadata> {
  const { hostname } = new URL(url);
  const found = OEMBED_PLAYERS.find(({ hosts }) => hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)));
  if (!found) throw invalid("url", `Supported players: ${OEMBED_PLAYERS.map(({ player }) => player).join(", ")}`);
  const youtubeId = found.player === "youtube" && hasYoutube(env) ? youtubeVideoId(url) : undefined;
  return youtubeId === undefined ? fetchOembed(env, found, url) : fetchFromYoutube(env, youtubeId, url);
}

async function fetchOembed(env: Env, { player, endpoint }: OembedPlayer, url: string): Promise<FoundMetadata> {
  const query = new URLSearchParams({ url, format: "json" });
  const { status, text } = await callOut(env, `${env.TIFO_OEMBED_URL || endpoint}?${query.toString()}`);
  // Players reject private videos with different statuses.
  if ([400, 401, 403, 404].includes(status)) throw unknownVideo(player);
  const found = status === 200 ? Oembed.safeParse(parseJson(text)).data : undefined;
  if (!found) throw new Failure("unavailable", `The player returned ${status}`);
  return {
    title: found.title,
    description: found.description ?? "",
    durationSeconds: found.duration ?? null,
    player,
    thumbnail: found.thumbnail_url?.startsWith("https://") ? found.thumbnail_url : null,
    type: "vod",
    url,
    tags: [],
    created: null,
    modified: null,
  };
}

async function fetchFromYoutube(env: Env, id: string, url: string): Promise<FoundMetadata> {
  const found = await fetchYoutubeVideo(env, id);
  if (!found) throw unknownVideo("youtube");
  const { published, ...video } = found;
  return { ...video, player: "youtube", url, created: published, modified: null };
}

function unknownVideo(player: string): Failure {
  return notFound(`${player} has no public video at this URL`);
}
