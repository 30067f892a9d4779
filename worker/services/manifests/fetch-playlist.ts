import { callPublic } from "#worker/integrations/public-host.ts";
import { type Failure, invalid, notFound, SiteHostFailure } from "#worker/lib/errors.ts";
import { linesOf, PlaylistProblem } from "#worker/lib/hls/playlist.ts";
import { outboundProblem } from "#worker/lib/network/outbound.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** Some origins serve playlists as text or bytes; the first line shows that it is one. */
const TYPES = [
  "application/vnd.apple.mpegurl",
  "application/x-mpegurl",
  "audio/mpegurl",
  "audio/x-mpegurl",
  "text/plain",
  "application/octet-stream",
];

/** The lines of the playlist at an allowed host. Throws what a player's developer needs to know. */
export async function fetchPlaylist(env: Env, url: string): Promise<string[]> {
  const headers = { Accept: "application/vnd.apple.mpegurl, */*;q=0.1", "User-Agent": "Tifo" };
  const { status, headers: returned, text } = await callPublic(env, url, { headers }, { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES });
  if (status === 404 || status === 410) throw notFound(`The playlist's host returned ${status}`);
  if (status >= 300 && status < 400) throw unusable(`The playlist's host redirects (${status}), and redirects aren't followed`);
  if (status !== 200) throw unusable(`The playlist's host returned ${status}`);
  const type = returned.get("Content-Type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (!TYPES.includes(type)) throw unusable(`The playlist's host returned the content type ${type.slice(0, 100) || "of nothing"}`);
  return readable(() => linesOf(text));
}

/** What a playlist's content makes impossible becomes an error for the player. */
export function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PlaylistProblem) throw unusable(error.message);
    throw error;
  }
}

/** The URL, if the site allows its host; otherwise a 400. */
export function allowedUrl(env: Env, src: string, hosts: string[]): URL {
  const problem = outboundProblem(env, src);
  if (problem !== undefined) throw invalid("src", problem);
  const url = new URL(src);
  if (!hosts.includes(url.host)) throw invalid("src", `${url.host} isn't one of the hosts in the site's settings.manifest.hosts`);
  return url;
}

function unusable(message: string): Failure {
  return new SiteHostFailure("unavailable", message);
}
