import { z } from "@hono/zod-openapi";
import type { KeyPlayRow, StatHistoryRow } from "#db/schema/stats.ts";
import type { StatMapping as StoredMapping } from "#db/types.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { Id, orNull, Time } from "#worker/lib/schemas/common.ts";

const Path = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^.]+(\.[^.]+)*$/, "A dotted path")
  .describe("A dotted path in the event, relative to each element if `each` is set")
  .openapi({ example: "player.id" });

const Kind = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,49}$/, "Lower-case letters, digits and hyphens")
  .openapi({ example: "player" });

const FactName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,49}$/, "Letters, digits and underscores");
const Each = Path.optional().describe("Path of a list in the event, each element of which is one; otherwise the event is one itself");
const At = Path.optional().describe(
  "When it was so: milliseconds or ISO 8601. By default when the event was received; an older one never overwrites a newer one",
);
const ChannelId = Id.describe("The channel whose viewers get it");

const EntityMapping = z
  .strictObject({
    channelId: ChannelId,
    each: Each,
    entityType: Kind,
    id: Path.describe("The provider's id of the entity, which `show_player_stats` and `show_person` name too"),
    name: Path.optional(),
    image: Path.optional().describe("An https URL"),
    team: Path.optional().describe("The name of its team, or of another group"),
    at: At,
    facts: z
      .record(FactName, Path)
      .refine((facts) => Object.keys(facts).length <= 50, "At most 50 facts")
      .describe("The path of each fact, by its name; strings, numbers and booleans are kept")
      .default({}),
  })
  .openapi("StatEntityMapping");

const KeyPlayMapping = z
  .strictObject({
    channelId: ChannelId,
    each: Each,
    when: z
      .strictObject({ fact: Path, equals: z.union([z.string().max(200), z.number(), z.boolean()]) })
      .optional()
      .describe("Only events in which this path has this value"),
    id: Path.optional().describe("The provider's id of the play; an event with the same id corrects it"),
    kind: Path.describe("For example goal"),
    title: Path,
    description: Path.optional(),
    entityType: Kind.optional(),
    entityId: Path.optional().describe("The provider's id of the entity of `entityType` that it is about"),
    mediaTime: Path.optional().describe("Seconds of media time, to jump to"),
    at: At,
  })
  .openapi("StatKeyPlayMapping");

export const StatMapping = z
  .strictObject({ entities: z.array(EntityMapping).max(20).default([]), keyPlays: z.array(KeyPlayMapping).max(20).default([]) })
  .openapi("StatMapping", {
    example: {
      entities: [
        {
          channelId: "5eed0000000000000000c001",
          each: "match.players",
          entityType: "player",
          id: "id",
          name: "name",
          team: "team",
          facts: { goals: "goals", shirt: "shirt" },
        },
      ],
      keyPlays: [
        {
          channelId: "5eed0000000000000000c001",
          when: { fact: "match.goal", equals: "home" },
          kind: "match.goal",
          title: "match.scorer",
          mediaTime: "match.mediaTime",
        },
      ],
    },
  });

export const ProviderMapping = z
  .object({ providerId: Id, mapping: orNull(StatMapping).describe("Null if nothing is kept") })
  .openapi("ProviderStatMapping");

const Value = z.union([z.string(), z.number(), z.boolean()]);

export const StatEntity = z
  .object({
    _id: Id,
    channelId: Id,
    entityType: z.string(),
    externalId: z.string().describe("The provider's id"),
    name: z.string().describe("Empty if no event has named it"),
    image: z.string().nullable(),
    team: z.string().nullable(),
    facts: z
      .record(z.string(), z.object({ value: Value, at: Time }))
      .describe("The latest value of each fact, and when it was last reported"),
    at: Time.describe("When it was last reported"),
  })
  .openapi("StatEntity");

export const StatHistoryEntry = z.object({ fact: z.string(), value: Value, at: Time, reportedAt: Time }).openapi("StatHistoryEntry");

export const KeyPlay = z
  .object({
    _id: Id,
    channelId: Id,
    kind: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    entityId: Id.nullable().describe("The entity that it is about"),
    mediaTime: z.number().nullable().describe("Seconds of media time to jump to"),
    at: Time,
  })
  .openapi("KeyPlay");

export const EntityQuery = listQuery(["name"], {
  entityType: z.string().max(50).optional(),
  externalId: z.string().max(200).optional().describe("The provider's id"),
  team: z.string().max(200).optional(),
});
export const HistoryQuery = listQuery(["at"], { fact: z.string().max(50).optional() });
export const KeyPlayQuery = listQuery(["at"], { kind: z.string().max(50).optional() });

const Facts = z.record(z.string(), z.object({ value: Value, at: z.number() }));

/** An entity with its latest facts. */
export interface EntityView {
  id: string;
  channelId: string;
  type: string;
  externalId: string;
  name: string;
  image: string | null;
  team: string | null;
  at: number;
  /** JSON, by the facts' names. */
  facts: string;
}

export function toStatEntity(row: EntityView) {
  return {
    _id: row.id,
    channelId: row.channelId,
    entityType: row.type,
    externalId: row.externalId,
    name: row.name,
    image: row.image,
    team: row.team,
    facts: Facts.parse(JSON.parse(row.facts)),
    at: row.at,
  } satisfies z.output<typeof StatEntity>;
}

export function toHistoryEntry({ fact, value, at, created }: StatHistoryRow) {
  return { fact, value, at, reportedAt: created } satisfies z.output<typeof StatHistoryEntry>;
}

export function toKeyPlay(row: KeyPlayRow) {
  return {
    _id: row.id,
    channelId: row.channelId,
    kind: row.kind,
    title: row.title,
    description: row.description,
    entityId: row.entityId,
    mediaTime: row.mediaTime,
    at: row.at,
  } satisfies z.output<typeof KeyPlay>;
}

export function toProviderMapping(providerId: string, mapping: StoredMapping | null) {
  return { providerId, mapping } satisfies z.output<typeof ProviderMapping>;
}
