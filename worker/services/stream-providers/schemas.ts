import { z } from "@hono/zod-openapi";
import type { StreamProviderRow } from "#db/schema/streams/streams.ts";
import { Id, Tracked } from "#worker/lib/schemas/common.ts";

const CallUrl = z.url().max(2000);

const editable = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,49}$/, "1 to 50 lowercase letters, digits and hyphens")
    .describe("The name that streams use for it; can't be changed")
    .openapi({ example: "wowza" }),
  canGenerateCaptions: z.boolean().default(false),
  canSupport4K: z.boolean().default(false),
  createStream: CallUrl.describe("Called to create a stream").openapi({ example: "https://streams.demo.example/create" }),
  deleteStream: CallUrl.describe("Called to delete a stream").openapi({ example: "https://streams.demo.example/delete" }),
  startStream: CallUrl.describe("Called to start a stream").openapi({ example: "https://streams.demo.example/start" }),
  stopStream: CallUrl.describe("Called to stop a stream").openapi({ example: "https://streams.demo.example/stop" }),
};

/** The fields with the URLs of the four calls. */
export const CALL_URLS = ["createStream", "deleteStream", "startStream", "stopStream"] as const;

export const StreamProviderInput = z.strictObject(editable).openapi("StreamProviderInput", {
  example: {
    name: "wowza",
    canGenerateCaptions: true,
    canSupport4K: false,
    createStream: "https://streams.demo.example/create",
    deleteStream: "https://streams.demo.example/delete",
    startStream: "https://streams.demo.example/start",
    stopStream: "https://streams.demo.example/stop",
  },
});

export const StreamProvider = z.object({ _id: Id, siteId: Id, ...editable, ...Tracked }).openapi("StreamProvider");

export const RegisteredProvider = z
  .object({
    id: Id,
    authorization: z.uuid().describe("The bearer token of calls to the provider, and of the provider's own changes here; shown only once"),
  })
  .openapi("RegisteredProvider");

export const ChangedProvider = z.object({ id: Id }).openapi("ChangedProvider");

export type StreamProviderInput = z.output<typeof StreamProviderInput>;

export function toStreamProvider(row: StreamProviderRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    canGenerateCaptions: row.canGenerateCaptions,
    canSupport4K: row.canSupport4K,
    createStream: row.createStream,
    deleteStream: row.deleteStream,
    startStream: row.startStream,
    stopStream: row.stopStream,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof StreamProvider>;
}
