import { and, eq, notExists, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { automationRules } from "#db/schema/automation-rules.ts";
import { channelTemplates } from "#db/schema/channel-templates.ts";
import { panels } from "#db/schema/panels.ts";
import { rundowns } from "#db/schema/rundowns.ts";
import { scheduledActions } from "#db/schema/schedule.ts";
import { Failure, LostRace } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";

/** The most uses that are named in the error, of each kind. */
const MAX_NAMED = 20;

type Settings = Record<string, unknown>;

/** The slugs of the segments that a change of the settings removes. */
export function removedSegments(before: Settings, after: Settings): string[] {
  const kept = new Set(slugsOf(after));
  return slugsOf(before).filter((slug) => !kept.has(slug));
}

function slugsOf({ userSegments }: Settings): string[] {
  return typeof userSegments === "object" && userSegments !== null ? Object.keys(userSegments) : [];
}

/** The condition that nothing refers to these segments; undefined without any. */
export function unusedSegments(ctx: Ctx, slugs: string[]): SQL | undefined {
  return slugs.length === 0 ? undefined : and(...Object.values(usesOf(ctx, slugs)).map((using) => notExists(using)));
}

/** Runs a change that requires these segments to be unused; if one is used, throws a 409 that names where. */
export async function whileUnused<T>(ctx: Ctx, slugs: string[], change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof LostRace && slugs.length > 0) await requireUnused(ctx, slugs);
    throw error;
  }
}

async function requireUnused(ctx: Ctx, slugs: string[]): Promise<void> {
  const found = Object.entries(usesOf(ctx, slugs)).map(async ([kind, using]) =>
    (await using).map(({ id, name }) => ({ path: `${kind}.${id}`, message: name })),
  );
  const issues = (await Promise.all(found)).flat();
  if (issues.length > 0) throw new Failure("conflict", "Something still uses a segment that this removes; change it first", { issues });
}

/** What uses one of the segments, at most `MAX_NAMED` of each kind. */
function usesOf(ctx: Ctx, slugs: string[]) {
  const removed = sql`(select value from json_each(${JSON.stringify(slugs)}))`;
  const at = (column: SQLiteColumn, path: string) => sql`json_extract(${column}, ${path}) in ${removed}`;
  const inEach = (list: SQLiteColumn, path: string) =>
    sql`exists (select 1 from json_each(${list}) as entry where json_extract(entry.value, ${path}) in ${removed})`;
  const using = (table: SQLiteTable & { id: SQLiteColumn; siteId: SQLiteColumn }, name: SQLiteColumn, condition: SQL | undefined) =>
    ctx.db
      .select({ id: sql<string>`${table.id}`, name: sql<string>`${name}` })
      .from(table)
      .where(and(eq(table.siteId, ctx.siteId), condition))
      .limit(MAX_NAMED);
  return {
    panels: using(panels, panels.panelName, at(panels.renderer, "$.segment")),
    rules: using(automationRules, automationRules.name, at(automationRules.jsonRule, "$.action.targeting.userSegment")),
    templates: using(channelTemplates, channelTemplates.title, inEach(channelTemplates.panels, "$.renderer.segment")),
    rundowns: using(rundowns, rundowns.name, inEach(rundowns.items, "$.broadcast.segment")),
    schedule: using(
      scheduledActions,
      scheduledActions.name,
      and(eq(scheduledActions.state, "pending"), at(scheduledActions.payload, "$.segment")),
    ),
  };
}
