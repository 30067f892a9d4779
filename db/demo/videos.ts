import type { playlists } from "#db/schema/playlists.ts";
import type { videos, videoTotals } from "#db/schema/videos.ts";
import { CHANNEL_2, DAY, SITE_A, SITE_B, stamps } from "./match-day.ts";

type VideoInsert = typeof videos.$inferInsert;
type PlaylistInsert = typeof playlists.$inferInsert;

const DERBY = "5eed00000000000000004001";
export const SPRING = "5eed00000000000000004002";
/** The backstage channel's offline programme. */
export const INTERVIEW = "5eed00000000000000004003";
const REPLAY = "5eed00000000000000004004";

/** Videos from before, during and after the match. */
export function demoVideos(): VideoInsert[] {
  return [
    video(DERBY, SITE_A, "Harbour City v Old Dock, live", {
      type: "livestream",
      player: "tifo",
      url: "https://play.wowza.demo.example/derby/master.m3u8",
      durationSeconds: 0,
      liveBroadcastId: "derby-2026-11-21",
      tags: ["derby"],
    }),
    video(SPRING, SITE_A, "Highlights: the spring derby", {
      url: "https://vod.demo.example/spring-derby.m3u8",
      durationSeconds: 312,
      description: "Three goals, one red card and a bicycle kick.",
      tags: ["derby", "highlights"],
    }),
    video(INTERVIEW, SITE_A, "Ada Moreno on eleven goals", {
      player: "youtube",
      url: "https://www.youtube.com/watch?v=demo-moreno",
      durationSeconds: 494,
      tags: ["interview"],
    }),
    video(REPLAY, SITE_A, "Spring derby, full match", {
      player: "tifo",
      url: "https://vod.demo.example/spring-derby-full.m3u8",
      durationSeconds: 5_580,
      subscriptions: ["season-pass"],
      uploadStatus: "pending",
      tags: ["derby", "replay"],
    }),
    video("5eed00000000000000004101", SITE_B, "The away end sings", {
      url: "https://vod.rival.example/away-end.m3u8",
      durationSeconds: 61,
    }),
  ];
}

export function demoVideoTotals(): (typeof videoTotals.$inferInsert)[] {
  return [
    { videoId: SPRING, siteId: SITE_A, views: 18_940 },
    { videoId: INTERVIEW, siteId: SITE_A, views: 2_317 },
  ];
}

export function demoPlaylists(): PlaylistInsert[] {
  return [
    playlist("5eed00000000000000004801", SITE_A, "Derby day", [
      { id: DERBY, schema: "video" },
      { id: SPRING, schema: "video" },
      { id: INTERVIEW, schema: "video" },
      { id: CHANNEL_2, schema: "page" },
    ]),
    playlist("5eed00000000000000004802", SITE_A, "The archive", [
      { id: "5eed00000000000000004801", schema: "playlist" },
      { id: REPLAY, schema: "video" },
    ]),
    playlist("5eed00000000000000004901", SITE_B, "From the away end", [{ id: "5eed00000000000000004101", schema: "video" }]),
  ];
}

function video(
  id: string,
  siteId: string,
  title: string,
  fields: Pick<VideoInsert, "url" | "durationSeconds"> & Partial<VideoInsert>,
): VideoInsert {
  return {
    ...stamps,
    id,
    siteId,
    title,
    description: "",
    player: "file",
    type: "vod",
    uploadStatus: "complete",
    subscriptions: [],
    tags: [],
    ...fields,
  };
}

function playlist(id: string, siteId: string, title: string, members: PlaylistInsert["members"]): PlaylistInsert {
  return { ...stamps, id, siteId, title, description: "", members, tags: ["match-day"], modified: stamps.modified + DAY / 2 };
}
