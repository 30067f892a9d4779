import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { fromQuery, Id, Time } from "#worker/lib/schemas/common.ts";

export const SiteEvent = z
  .object({
    id: Id,
    type: z.string().openapi({ example: "overlay.broadcast" }),
    created: Time,
    sequence: z.number().int().describe("Position in the site's log, from 1, without gaps"),
    previousSequence: z.number().int().nullable().describe("The sequence of the resource's previous event"),
    resource: z.string().describe("The affected resource").openapi({ example: "overlay/5eed0000000000000000a001" }),
    data: z.record(z.string(), z.unknown()),
    actor: z.string().describe("Who caused it").openapi({ example: "developer:5eed0000000000000000e001" }),
    requestId: z.string(),
  })
  .openapi("SiteEvent");

export const EventQuery = z.strictObject({
  after: fromQuery(z.number().int().min(0))
    .default(0)
    .describe("The last sequence that you have; if omitted, starts with the oldest stored event"),
  limit: fromQuery(z.number().int().min(1).max(200)).default(50),
  types: z
    .string()
    .max(2000)
    .transform((list) => list.split(",").map((type) => type.trim()))
    .optional()
    .openapi({ type: "string", description: "Only these types, comma-separated" }),
});

export const EventList = z
  .object({
    results: z.array(SiteEvent),
    after: z.number().int().describe("The `after` for the next request"),
    head: z.number().int().describe("The latest sequence of the site"),
    oldest: z.number().int().describe("From this sequence on, every event is still stored"),
  })
  .openapi("EventList");

const Data = z.record(z.string(), z.unknown());

export function toEvent({ data, origin: _, ...entry }: LogEntry) {
  return { ...entry, data: Data.parse(JSON.parse(data)) } satisfies z.output<typeof SiteEvent>;
}
