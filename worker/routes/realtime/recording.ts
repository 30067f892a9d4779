import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { ChannelParam } from "#worker/services/realtime/schemas.ts";
import { readRecording } from "#worker/services/recordings/recordings.ts";
import { ChannelRecording, RecordingQuery } from "#worker/services/recordings/schemas.ts";

export const recordings = createArea();

recordings.openapi(
  operation({
    operationId: "readRecording",
    tag: "Realtime",
    method: "get",
    path: "/realtime/v1/channels/{channelId}/recording",
    summary: "Read what a channel has shown",
    description:
      "The broadcasts that were on between two times, for a recording of the channel's video; see [Video players](/guides/video-players#recordings). Each is the frame `overlay.show` with its times on the recording's clock. Contains what every viewer received, without broadcasts to a tag or a segment, those still to come, and what viewers wrote (questions, donors' thanks, the kit's questions and chat messages). The channel's gate applies as for its connections. Kept for 400 days, at most 10,000 per channel.",
    access: { credentials: CLIENT, optional: ACCOUNT, accounts: "any", readsPrimary: true },
    request: { params: ChannelParam, query: RecordingQuery },
    responses: { 200: json("A page of the broadcasts", ChannelRecording) },
    errors: ["not_found", "unauthenticated", "forbidden", "unavailable"],
  }),
  async (c) => c.json(await readRecording(c.get("ctx"), c.req.valid("param").channelId, c.req.valid("query")), 200),
);
