import { and, eq, type SQL, sql } from "drizzle-orm";
import { automationRules } from "#db/schema/automation-rules.ts";
import { channelTemplates } from "#db/schema/channel-templates.ts";
import { panels } from "#db/schema/panels.ts";
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
  if (slugs.length === 0) return undefined;
  const { ofPanels, ofRules, ofTemplates } = usesOf(ctx, slugs);
  return sql`not exists ${ofPanels} and not exists ${ofRules} and not exists ${ofTemplates}`;
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
  const { ofPanels, ofRules, ofTemplates } = usesOf(ctx, slugs);
  const [usingPanels, usingRules, usingTemplates] = await ctx.db.batch([ofPanels, ofRules, ofTemplates]);
  const issues = [
    ...usingPanels.map(({ id, name }) => ({ path: `panels.${id}`, message: name })),
    ...usingRules.map(({ id, name }) => ({ path: `rules.${id}`, message: name })),
    ...usingTemplates.map(({ id, name }) => ({ path: `templates.${id}`, message: name })),
  ];
  if (issues.length > 0)
    throw new Failure("conflict", "Panels, rules or templates use a segment that this removes; change them first", { issues });
}

function usesOf(ctx: Ctx, slugs: string[]) {
  const removed = sql`(select value from json_each(${JSON.stringify(slugs)}))`;
  const inTemplate = sql`exists (select 1 from json_each(${channelTemplates.panels}) as panel
    where json_extract(panel.value, '$.renderer.segment') in ${removed})`;
  return {
    ofPanels: ctx.db
      .select({ id: panels.id, name: panels.panelName })
      .from(panels)
      .where(and(eq(panels.siteId, ctx.siteId), sql`json_extract(${panels.renderer}, '$.segment') in ${removed}`))
      .limit(MAX_NAMED),
    ofRules: ctx.db
      .select({ id: automationRules.id, name: automationRules.name })
      .from(automationRules)
      .where(
        and(
          eq(automationRules.siteId, ctx.siteId),
          sql`json_extract(${automationRules.jsonRule}, '$.action.targeting.userSegment') in ${removed}`,
        ),
      )
      .limit(MAX_NAMED),
    ofTemplates: ctx.db
      .select({ id: channelTemplates.id, name: channelTemplates.title })
      .from(channelTemplates)
      .where(and(eq(channelTemplates.siteId, ctx.siteId), inTemplate))
      .limit(MAX_NAMED),
  };
}
