import { z } from "@hono/zod-openapi";
import { IMPRESSION_KINDS } from "#db/enums.ts";
import { Id } from "#worker/lib/schemas/common.ts";

export const ClientIdQuery = z.strictObject({
  clientId: Id.optional().describe("The site, for clients that can't set the header Tifo-Client-Id, such as navigator.sendBeacon"),
});

const Impression = z
  .strictObject({
    kind: z
      .enum(IMPRESSION_KINDS)
      .describe("What was shown (`….shown`) or done: a call to action pressed, a panel opened, a video started"),
    id: Id.describe("The overlay, panel, poll, quest or video"),
    broadcastId: Id.optional().describe("The broadcast of an overlay"),
  })
  .refine(({ kind, broadcastId }) => broadcastId === undefined || kind.startsWith("overlay."), {
    path: ["broadcastId"],
    message: "Only overlays have a broadcast",
  });

export const ImpressionBatch = z
  .strictObject({
    channelId: Id,
    deviceId: z.string().min(1).max(200).describe("Limits how much a device can report; not stored"),
    weight: z
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(1)
      .describe("How many viewers this one reports for: 20 if each viewer reports with a probability of 1 in 20"),
    entries: z.array(Impression).min(1).max(100),
  })
  .openapi("ImpressionBatch", {
    example: {
      channelId: "5eed0000000000000000c001",
      deviceId: "b7c1f0de-57e2-4c0a-9d6e-3f8a6b1f9c24",
      weight: 1,
      entries: [
        { kind: "overlay.shown", id: "5eed00000000000000f00001", broadcastId: "5eed00000000000000b00001" },
        { kind: "overlay.cta", id: "5eed00000000000000f00001", broadcastId: "5eed00000000000000b00001" },
      ],
    },
  });

export type ImpressionBatch = z.output<typeof ImpressionBatch>;
