import { OutputWithToken } from "#worker/services/outputs/schemas.ts";
import { PLAYLIST_HOST, servePlaylist } from "./playlists.ts";
import type { CallOptions, TestSite } from "./harness.ts";

/** The page of an output, whose token is the credential, and a playlist, which another server has. */
export const OUTPUT_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  openOutput: async (site) => {
    const params = { channelId: site.channels[0] };
    const created = await site.call("createOutput", { params, body: { name: "Studio" } });
    return { params, query: { token: created.as(OutputWithToken).token } };
  },
  openManifest: async (site) => {
    const src = servePlaylist(`https://${PLAYLIST_HOST}/${site.id}.m3u8`, "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n");
    return { params: { channelId: site.channels[0] }, query: { src } };
  },
};
