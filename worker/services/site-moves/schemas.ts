import { z } from "@hono/zod-openapi";
import { SITE_MOVE_PHASES } from "#db/enums.ts";
import type { SiteMoveRow } from "#db/schema/databases/site-moves.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";

const Shard = z.number().int().min(1).max(999);

export const MoveSite = z
  .strictObject({ shard: Shard.describe("The number of the database: 1 for `DB`, 2 for `DB_2`") })
  .openapi("MoveSite", { example: { shard: 2 } });

export const SiteMove = z
  .object({
    siteId: Id,
    fromShard: Shard,
    toShard: Shard,
    phase: z
      .enum(SITE_MOVE_PHASES)
      .describe(
        "The site is in the old database until `switched`, and its writes wait while it is `fenced`. `complete` and `cancelled` are final.",
      ),
    rows: z.number().int().nonnegative().describe("Copied so far, without those that changed meanwhile"),
    message: z.string().nullable().describe("Why it was cancelled, or what it waits for"),
    started: Time,
    switched: Time.nullable().describe("When the site began to be in the new database"),
    completed: Time.nullable(),
  })
  .openapi("SiteMove");

export function toSiteMove(row: SiteMoveRow) {
  const { siteId, fromShard, toShard, phase, rows, message, started, switched, completed } = row;
  return { siteId, fromShard, toShard, phase, rows, message, started, switched, completed } satisfies z.output<typeof SiteMove>;
}
