import { z } from "@hono/zod-openapi";
import { POSITIONS } from "#db/enums.ts";
import { fromQuery, orNull, Time } from "#worker/lib/schemas/common.ts";
import { OverlayCta } from "#worker/lib/schemas/overlay-cta.ts";

export const MAX_PAGE = 200;

const Moment = fromQuery(z.number().int().min(0));

export const RecordingQuery = z
  .strictObject({
    from: Moment.describe("The recording's start, in milliseconds since 1970 UTC").openapi({ example: 1_767_200_400_000 }),
    to: Moment.optional().describe("Its end, in milliseconds since 1970 UTC; until now by default"),
    limit: fromQuery(z.number().int().min(1).max(MAX_PAGE)).default(100),
    cursor: z
      .string()
      .regex(/^\d{1,16}-\d{1,16}$/, "Not a cursor of this list")
      .optional()
      .describe("The `next` of the previous page"),
  })
  .refine(({ from, to }) => to === undefined || to >= from, { message: "Must not be before from", path: ["to"] });

/** The frame as viewers received it. Its elements aren't validated again: those of an earlier release may have fewer fields. */
export const RecordedBroadcast = z
  .object({
    type: z.literal("overlay.show"),
    seq: z.number().int().describe("Its position in the channel's log"),
    upTo: z.number().int(),
    broadcastId: z.string(),
    overlayId: z.string(),
    startsAt: Time.describe("When it was on: its `timecode` if that is a time since 1970, else when it was sent"),
    endsAt: Time.describe("When it ended, or was cleared"),
    position: z.enum(POSITIONS),
    contents: z
      .array(z.looseObject({ kind: z.enum(["html", "rive", "kit", "ograf"]), position: z.enum(POSITIONS) }))
      .describe("As in the frame `overlay.show`"),
    cta: orNull(OverlayCta),
    variables: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    priority: z.number().int(),
    timecode: z.number().optional().describe("Seconds of media time that it was sent with"),
    broadcastPayload: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi("RecordedBroadcast");

export const ChannelRecording = z
  .object({
    results: z.array(RecordedBroadcast).describe("In order of `startsAt`"),
    next: z.string().nullable().describe("The `cursor` of the next page; null on the last page"),
  })
  .openapi("ChannelRecording");

export type RecordingQuery = z.output<typeof RecordingQuery>;
export type ChannelRecording = z.output<typeof ChannelRecording>;
export type RecordedBroadcast = z.output<typeof RecordedBroadcast>;
