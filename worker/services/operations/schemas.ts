import { z } from "@hono/zod-openapi";
import { Backup } from "#worker/services/backups/schemas.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";

/** Entries of each list in the report. */
export const MAX_LISTED = 50;

const Count = z.number().int().nonnegative();
const OptionalTime = Time.nullable();
const Milliseconds = z.number().nonnegative().nullable();

const Route = z.object({
  method: z.string(),
  route: z.string().nullable().describe("Null: requests that match no operation"),
  requests: Count,
  rejected: Count.describe("Responses with a status from 400 to 499"),
  errors: Count.describe("Responses with a status from 500"),
  p50: Milliseconds.describe("Milliseconds, of the last 5 to 10 minutes; null if it wasn't called in them"),
  p99: Milliseconds,
});

const Backlog = z.object({ count: Count, oldest: OptionalTime });

export const OperatorReport = z
  .object({
    time: Time,
    version: z.object({ id: z.string(), tag: z.string().nullable(), deployed: OptionalTime }).describe("The Worker's version"),
    database: z.object({
      bytes: Count.describe("Size of the largest database"),
      maxBytes: Count.describe("The limit of each database"),
      shards: z.array(z.object({ shard: z.number().int().positive(), bytes: Count })).describe("The size of each shard's database"),
    }),
    outbox: z
      .object({
        events: Count.describe("Events that aren't in their site's log yet; at most 100,000"),
        oldest: OptionalTime,
        sites: z.array(z.object({ siteId: Id, events: Count, oldest: Time })).max(MAX_LISTED),
      })
      .describe("Normally empty within a second of each request; the cron repeats what is older than 5 seconds"),
    effects: z.object({
      failing: Count.describe("Effects of events that fail and are retried, up to 1,000 for each site"),
      abandoned: Count.describe("Effects that were given up because this release can't read their event"),
      sites: z
        .array(
          z.object({
            siteId: Id,
            failing: Count,
            abandoned: Count,
            oldest: Time,
            cause: z.string().describe("Why the last one failed"),
            modified: Time,
          }),
        )
        .max(MAX_LISTED),
    }),
    jobs: z.object({
      queue: z
        .object({ messages: Count, bytes: Count, oldest: OptionalTime })
        .nullable()
        .describe("Null if the platform doesn't report it"),
      memberExports: Backlog.describe("Unfinished exports of members"),
      siteArchives: Backlog.describe("Unfinished exports and imports of sites"),
      deadLetters: Count.describe("Messages of the last 30 days that the queue gave up. The cron continues the jobs that they refer to"),
      latestDeadLetters: z
        .array(
          z.object({
            _id: z.string(),
            queue: z.string(),
            body: z.string().describe("JSON: ids only"),
            attempts: Count,
            sent: Time,
            created: Time,
          }),
        )
        .max(MAX_LISTED),
    }),
    schedule: z.object({ late: Count, oldest: OptionalTime }).describe("Scheduled actions that should have run more than a minute ago"),
    cron: z
      .object({
        due: Time,
        started: Time,
        completed: Time,
        failures: z.array(z.object({ step: z.string(), siteId: Id.optional(), cause: z.string() })),
      })
      .nullable()
      .describe("Its last run, which is due every minute; null before the first"),
    backups: z.object({
      lastNight: z
        .object({
          day: z.string().describe("In UTC"),
          started: Time,
          completed: OptionalTime.describe("When the last site's backup was started; null until then"),
          sites: Count.describe("Sites whose backup it has started"),
          complete: Count.describe("Backups since then, those that were requested included"),
          failed: Count,
          unfinished: Count,
        })
        .nullable()
        .describe("Null before the first night"),
      latestFailures: z.array(Backup).max(MAX_LISTED).describe("Backups that failed in the last 7 days"),
    }),
    viewers: z
      .object({ connected: Count, sites: Count, unreachable: Count, truncated: z.boolean() })
      .describe("Viewers of up to 100 sites that had any in the last two hours; `truncated` if there are more sites"),
    isolate: z
      .object({
        id: z.string().nullable(),
        since: OptionalTime,
        requests: Count,
        errors: Count,
        socketsOpened: Count,
        routes: z.array(Route),
      })
      .describe("What the isolate that responds has served itself: one of many. Slowest routes first"),
  })
  .openapi("OperatorReport");

export type OperatorReport = z.output<typeof OperatorReport>;

export const SiteParam = z.object({ siteId: Id.openapi({ example: "5eed00000000000000000001" }) });

export const FailedEffects = z
  .object({
    failedEffects: z.array(
      z.object({
        eventId: z.string(),
        eventType: z.string(),
        resource: z.string(),
        sequence: Count,
        created: Time,
        attempts: Count,
        nextAttempt: OptionalTime.describe("Null if it was given up"),
        cause: z.string(),
      }),
    ),
  })
  .openapi("FailedEffects");

export const ObjectSizes = z
  .object({
    bytes: Count.describe("Of all objects that were asked"),
    objects: z
      .array(
        z.object({
          object: z.string().openapi({ example: "SITE_LOG" }).describe("Its binding"),
          name: z.string().openapi({ example: "5eed00000000000000000001" }),
          bytes: Count.describe("Size of its database"),
        }),
      )
      .max(MAX_LISTED)
      .describe("The largest 50"),
    asked: Count,
    unreachable: Count.describe("Objects that did not respond within 5 seconds"),
    truncated: z.boolean().describe("Whether the site has more than the 500 objects that were asked"),
  })
  .openapi("ObjectSizes");

export const RetriedEffects = z.object({ retried: Count }).openapi("RetriedEffects");

export const MetricsText = z.string().openapi({
  example:
    "# HELP tifo_outbox_events Events that are not in their site's log yet.\n# TYPE tifo_outbox_events gauge\ntifo_outbox_events 0\n",
});
