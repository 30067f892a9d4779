import { eventsOf, type SampleValues } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Video } from "./schemas.ts";

const samples: SampleValues = [
  [
    /^(video|admin\.vod)/,
    {
      _id: SAMPLE_IDS.video,
      title: "Harbour City v Old Dock: highlights",
      description: "All four goals.",
      type: "vod",
      durationSeconds: 312,
      player: "file",
      url: "https://vod.demo.example/highlights.m3u8",
      uploadStatus: "complete",
      thumbnail: "https://demo.example/highlights.jpg",
      gated: false,
      liveBroadcastId: null,
      tags: ["derby"],
    },
  ],
  [/^admin\.vodReady$/, { created: SAMPLE_MOMENT }],
];

export const events = {
  ...eventsOf(
    { services: ["video-service-v3", "admin-service-v1"], samples },
    {
      "admin.vodDeleted": { data: Video, description: "A recording was deleted", resource: "video/_id" },
      "admin.vodReady": { data: Video, description: "A recording is ready to play", resource: "video/_id" },
    },
  ),
  ...eventsOf(
    { services: ["video-service-v3"], samples },
    {
      "video.created": { data: Video, description: "A video was added" },
      "video.deleted": { data: Video, description: "A video was deleted" },
      "video.updated": { data: Video, description: "A video was updated" },
    },
  ),
};
