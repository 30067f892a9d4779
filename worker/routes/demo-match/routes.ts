import { createArea } from "#worker/http/area.ts";
import { notFound } from "#worker/lib/errors.ts";
import { liveManifest } from "#worker/services/demo-match/dash.ts";
import { livePlaylist, multivariantPlaylist } from "#worker/services/demo-match/hls.ts";
import { RENDITIONS, SEGMENT_SECONDS } from "#worker/services/demo-match/match-video.ts";

/** The demo's live stream. Not part of the API: it exists only where the demo data is, under `npm start`. */
export const demoMatch = createArea();

const HLS = "application/vnd.apple.mpegurl";
const DASH = "application/dash+xml";

demoMatch.get("/demo/match/:file", (c) => {
  if (c.env.TIFO_DEVELOPMENT !== "true") throw notFound();
  const now = Date.now();
  const file = c.req.param("file");
  const rendition = RENDITIONS.find(({ id }) => file === `${id}.m3u8`);
  // A player that asks twice while a segment lasts gets the same list.
  const headers = (type: string) => ({ "Content-Type": type, "Cache-Control": `max-age=${SEGMENT_SECONDS / 4}` });
  if (rendition) return c.body(livePlaylist(rendition, now), 200, headers(HLS));
  if (file === "live.m3u8") return c.body(multivariantPlaylist(), 200, headers(HLS));
  if (file === "live.mpd") return c.body(liveManifest(now), 200, headers(DASH));
  throw notFound();
});
