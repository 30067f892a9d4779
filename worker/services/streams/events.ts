import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf, type SampleValues } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Stream } from "./schemas.ts";

// Events never contain a stream's key.
const StreamState = Stream.extend({ streamKey: z.null() });

const samples: SampleValues = [
  [
    /^(stream\.(created|deleted|updated)|admin\.went)/,
    {
      _id: SAMPLE_IDS.stream,
      title: "Harbour City v Old Dock",
      provider: "wowza",
      providerStreamId: "wowza-derby",
      ingestUrl: "rtmps://ingest.demo.example/live",
      playbackUrl: "https://play.demo.example/derby/master.m3u8",
      isLive: false,
      liveSince: null,
      fallbackImageUrl: "https://demo.example/kick-off-soon.png",
      tags: ["derby"],
    },
  ],
  [/^admin\.wentLive$/, { isLive: true, liveSince: SAMPLE_MOMENT }],
  [/^admin\.wentOffline$/, { vod: { streamId: SAMPLE_IDS.stream, durationSeconds: 6_312 } }],
  [/^stream\.updated$/, { channelId: null }],
];

export const events = {
  ...eventsOf(
    { services: ["stream-service-v1", "admin-service-v1"], samples },
    {
      "admin.wentLive": { data: StreamState, description: "A stream went live", resource: "stream/_id" },
      "admin.wentOffline": {
        data: StreamState.extend({ vod: z.object({ streamId: Id, durationSeconds: z.number().int() }) }),
        description: "A stream went offline; `vod` is the input for adding its recording as a video",
        resource: "stream/_id",
      },
    },
  ),
  ...eventsOf(
    { services: ["stream-service-v1"], samples },
    {
      "stream.created": { data: StreamState, description: "A stream was created" },
      "stream.deleted": { data: StreamState, description: "A stream was deleted" },
      "stream.updated": { data: StreamState, description: "A stream's channel was deleted" },
    },
  ),
};
