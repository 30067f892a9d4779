import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { quests, sites } from "../../db/schema/index.ts";
import type { PanelRenderer } from "../../db/types.ts";
import { Failure } from "../lib/errors.ts";
import type { Ctx } from "./context.ts";
import { idIn } from "./listing.ts";

/** Writes a panel that shows quests; a 400 names those that the site doesn't have, or no longer has when it comes to writing. */
export async function withQuests<T>(ctx: Ctx, renderer: PanelRenderer, write: () => Promise<T>): Promise<T> {
  await requireQuests(ctx, renderer);
  try {
    return await write();
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") await requireQuests(ctx, renderer);
    throw error;
  }
}

/** Whether the site has all quests that a panel shows, for the condition of a change; undefined where it shows none. */
export function questsThere(ctx: Ctx, renderer: PanelRenderer): SQL | undefined {
  const ids = new Set(questsOf(renderer));
  if (ids.size === 0) return undefined;
  const found = and(eq(quests.siteId, ctx.siteId), idIn(quests.id, [...ids]));
  return sql`(select count(*) from ${quests} where ${found}) = ${ids.size}`;
}

/** A change of nothing, which touches its row only while they are there: to go first in a `commitIfCurrent` that inserts the panel. */
export function whileQuestsThere(ctx: Ctx, renderer: PanelRenderer): BatchItem<"sqlite">[] {
  const condition = questsThere(ctx, renderer);
  if (!condition) return [];
  return [
    ctx.db
      .update(sites)
      .set({ version: sql`${sites.version}` })
      .where(and(eq(sites.id, ctx.siteId), condition)),
  ];
}

async function requireQuests(ctx: Ctx, renderer: PanelRenderer): Promise<void> {
  const ids = questsOf(renderer);
  if (ids.length === 0) return;
  const found = await ctx.db
    .select({ id: quests.id })
    .from(quests)
    .where(and(eq(quests.siteId, ctx.siteId), idIn(quests.id, ids)));
  const known = new Set(found.map(({ id }) => id));
  const issues = ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: `renderer.quests.${index}.quest_id`, message: "The site has no quest of this id" }],
  );
  if (issues.length > 0) throw new Failure("invalid_request", "The panel shows quests that the site doesn't have", { issues });
}

function questsOf(renderer: PanelRenderer): string[] {
  return "quests" in renderer ? renderer.quests.map(({ quest_id }) => quest_id) : [];
}
