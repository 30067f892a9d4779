import { z } from "@hono/zod-openapi";
import { FACT_TYPES, FIRING_OUTCOMES } from "#db/enums.ts";
import type { DataProviderRow, providerEvents } from "#db/schema/data-providers.ts";
import { FreeObject, Id, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";

export const EXAMPLE_SCHEMA = {
  type: "object",
  required: ["match"],
  additionalProperties: false,
  properties: {
    match: {
      type: "object",
      required: ["minute"],
      properties: {
        minute: { type: "integer", minimum: 0 },
        kind: { type: "string" },
        scorer: { type: "string" },
        score: { type: "object", properties: { home: { type: "integer" }, away: { type: "integer" } } },
      },
    },
  },
};

const editable = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Match data" }),
  description: z.string().max(2000).openapi({ example: "Goals, cards and the clock of each match" }),
  schema: FreeObject.describe(
    "A JSON Schema for the events, with an object as its root. References must stay within the schema; `pattern` and `patternProperties` are rejected",
  ).openapi({
    example: EXAMPLE_SCHEMA,
  }),
  ownerName: z.string().trim().min(1).max(200).openapi({ example: "Pitchside Data" }),
  ownerEmail: z.email().max(254).openapi({ example: "desk@pitchside.example" }),
  realtime: z.boolean().describe("Whether events are sent as they happen"),
  ttl: z.number().int().min(1).max(31_536_000).nullable().default(null).describe("How many seconds a fact stays valid; null means forever"),
  tags: Tags.default([]),
};

export const DataProviderInput = z.strictObject(editable).openapi("DataProviderInput", {
  example: {
    name: "Match data",
    description: "Goals, cards and the clock of each match",
    schema: EXAMPLE_SCHEMA,
    ownerName: "Pitchside Data",
    ownerEmail: "desk@pitchside.example",
    realtime: true,
    ttl: 7200,
  },
});

const Message = z.string().describe("What was done");

export const RegisteredDataProvider = z
  .object({
    success: z.literal(true),
    message: Message,
    dataProviderId: Id,
    secret: z.string().describe("The secret that signs the provider's requests; shown only once"),
  })
  .openapi("RegisteredDataProvider");

export const RotatedSecret = z
  .object({
    success: z.literal(true),
    message: Message,
    secret: z.string().describe("The new secret; shown only once"),
    previousExpires: Time.describe("Until when the previous secret works, in epoch milliseconds"),
  })
  .openapi("RotatedSecret");

export const AvailableProvider = z
  .object({
    _id: Id,
    name: z.string(),
    description: z.string(),
    facts: z.array(z.string()).describe("The dotted paths of its events' fields, for use in rules"),
    factTypes: z.record(z.string(), z.enum(FACT_TYPES)).describe("The type of each fact"),
    realtime: z.boolean(),
    ttl: z.number().int().nullable(),
    disabledReason: z
      .string()
      .nullable()
      .describe("Why its events are rejected with 409 until it registers another schema; null if they are accepted"),
    tags: z.array(z.string()),
    ...Tracked,
  })
  .openapi("AvailableProvider");

export const AvailableProviders = z.object({ success: z.literal(true), results: z.array(AvailableProvider) }).openapi("AvailableProviders");

export const ChangedDataProvider = z
  .object({ success: z.literal(true), message: Message, result: AvailableProvider })
  .openapi("ChangedDataProvider");

export const DeletedDataProvider = z.object({ success: z.literal(true), message: Message }).openapi("DeletedDataProvider");

export const ProviderParam = z.object({ providerId: Id });

export const EventIdHeader = z.object({
  "Tifo-Event-Id": z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, "1 to 200 printable characters without spaces")
    .optional()
    .openapi({
      description: "The event's id at the provider; an event that is sent again with the same id counts once",
      example: "match-7-goal-2",
    }),
});

/** Any JSON object. `z.record` would silently drop a `__proto__` key instead of rejecting it. */
export const ProviderEventInput = z.custom<Record<string, unknown>>(isEvent, "Must be a JSON object").openapi("ProviderEventInput", {
  type: "object",
  description: "An event that matches the provider's schema",
  example: { match: { minute: 17, kind: "goal", scorer: "Ada Moreno", score: { home: 1, away: 0 } } },
});

export const ReceivedEvent = z
  .object({ success: z.literal(true), message: Message, eventId: Id.describe("The event's id at Tifo") })
  .openapi("ReceivedProviderEvent");

export const Firing = z
  .object({
    ruleId: Id,
    name: z.string(),
    outcome: z
      .enum(FIRING_OUTCOMES)
      .describe(
        "`sent`: an overlay was broadcast; `created`: a channel was created; `locked`: a poll was closed; `dropped`: the rule was deleted or inactive when its delay was over",
      ),
    message: z.string().nullable().describe("Why it failed, or which channels it didn't reach"),
    madeId: Id.nullable().describe("The id of the broadcast or the channel"),
    due: Time,
  })
  .openapi("Firing");

export const ProviderEvent = z
  .object({
    _id: Id,
    providerId: Id,
    externalId: z.string().describe("The event's id at the provider, or ours if it sent none"),
    event: z.record(z.string(), z.unknown()),
    fired: z.array(Firing).describe("The rules that the event fired"),
    created: Time,
  })
  .openapi("ProviderEvent");

export type DataProviderInput = z.output<typeof DataProviderInput>;
export type ProviderEventRow = typeof providerEvents.$inferSelect & { fired: z.output<typeof Firing>[] };

function isEvent(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !Object.hasOwn(value, "__proto__");
}

/** A provider without its secrets and its owner's address. */
export function toAvailable(row: DataProviderRow) {
  return {
    _id: row.id,
    name: row.name,
    description: row.description,
    facts: Object.keys(row.facts),
    factTypes: row.facts,
    realtime: row.realtime,
    ttl: row.ttl,
    disabledReason: row.disabledReason,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof AvailableProvider>;
}

export function toProviderEvent(row: ProviderEventRow) {
  return {
    _id: row.id,
    providerId: row.providerId,
    externalId: row.externalId,
    event: row.event,
    fired: row.fired,
    created: row.created,
  } satisfies z.output<typeof ProviderEvent>;
}
