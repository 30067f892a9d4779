import { and, eq, getTableColumns, or, type SQL, sql } from "drizzle-orm";
import { type LeaderboardRow, leaderboards } from "#db/schema/engagement/leaderboards.ts";
import { panels } from "#db/schema/panels.ts";
import { sites } from "#db/schema/sites.ts";
import { conflict, LostRace, notFound, wonRace } from "#worker/lib/errors.ts";
import {
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { inLeaderboard } from "#worker/services/core/named-references.ts";
import { newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { type LeaderboardInput, type LeaderboardQuery, toLeaderboard } from "./schemas.ts";

/** Events of a site reach each of its leaderboards, so their number is limited. */
export const MAX_LEADERBOARDS = 100;

const leaderboardList = tableList<LeaderboardRow>({
  table: leaderboards,
  rows: (db, slice) => sliceOf(db.select().from(leaderboards).$dynamic(), slice),
  sort: { created: leaderboards.created, name: leaderboards.name },
  search: { name: leaderboards.name },
});

export function listLeaderboards(ctx: Ctx, query: LeaderboardQuery): Promise<ListPage<LeaderboardRow>> {
  const { period, channelId } = query;
  return listRows(
    ctx,
    leaderboardList,
    query,
    eq(leaderboards.siteId, ctx.siteId),
    period === undefined ? undefined : eq(leaderboards.period, period),
    channelId === undefined ? undefined : countsChannel(channelId),
  );
}

export async function getLeaderboard(ctx: Ctx, id: string): Promise<LeaderboardRow> {
  const [leaderboard] = await selectLeaderboard(ctx, id);
  if (!leaderboard) throw notFound("Leaderboard not found");
  return leaderboard;
}

/** Selects a leaderboard of the site, for use in a batch. */
export function selectLeaderboard(ctx: Ctx, id: string) {
  return ctx.db
    .select(getTableColumns(leaderboards))
    .from(leaderboards)
    .where(ownRow(ctx, leaderboards, id));
}

export async function createLeaderboard(ctx: Ctx, input: LeaderboardInput): Promise<LeaderboardRow> {
  const row: LeaderboardRow = { ...newRow(ctx), ...columnsOf(input) };
  const references = inLeaderboard(row);
  const hasRoom = sql`(select count(*) from ${leaderboards} where ${eq(leaderboards.siteId, ctx.siteId)}) < ${MAX_LEADERBOARDS}`;
  const guard = ctx.db
    .update(sites)
    .set({ version: sql`${sites.version}` })
    .where(and(eq(sites.id, ctx.siteId), hasRoom, referencesExist(ctx, references)));
  const insert = ctx.db.insert(leaderboards).values(row);
  try {
    await withReferences(ctx, references, () => commitIfUnchanged(ctx, [guard, insert], leaderboardEvent("created", row)));
  } catch (error) {
    // All channels exist, so there is no room.
    if (error instanceof LostRace) throw conflict(`A site has at most ${MAX_LEADERBOARDS} leaderboards`);
    throw error;
  }
  return row;
}

/** Replaces a leaderboard; the points that were awarded stay. */
export async function replaceLeaderboard(ctx: Ctx, id: string, input: LeaderboardInput): Promise<LeaderboardRow> {
  const current = await getLeaderboard(ctx, id);
  const next: LeaderboardRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const references = newReferences(inLeaderboard(next), inLeaderboard(current));
  const change = updateRow(ctx, leaderboards, current, next, referencesExist(ctx, references));
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, leaderboardEvent("updated", next)));
  return next;
}

/** Deletes a leaderboard that no panel shows, with all its points. */
export async function deleteLeaderboard(ctx: Ctx, id: string): Promise<void> {
  const [[current], used] = await ctx.db.batch([selectLeaderboard(ctx, id), panelsWith(ctx, id)]);
  if (!current) throw notFound("Leaderboard not found");
  requireMatch(ctx, current);
  if (used.length > 0) throw inUse(used);
  const change = ctx.db.delete(leaderboards).where(and(whereVersion(ctx, leaderboards, current), sql`not exists ${panelsWith(ctx, id)}`));
  if (await wonRace(() => commitIfUnchanged(ctx, change, leaderboardEvent("deleted", current)))) return;
  // A panel was added concurrently, or the leaderboard was changed.
  const added = await panelsWith(ctx, id);
  throw added.length > 0 ? inUse(added) : new LostRace();
}

/** Matches leaderboards of this channel or of the whole site. */
function countsChannel(channelId: string): SQL | undefined {
  return or(eq(leaderboards.channelIds, []), sql`exists (select 1 from json_each(${leaderboards.channelIds}) where value = ${channelId})`);
}

function panelsWith(ctx: Ctx, id: string) {
  return ctx.db
    .select({ name: panels.panelName })
    .from(panels)
    .where(and(eq(panels.siteId, ctx.siteId), sql`json_extract(${panels.renderer}, '$.leaderboard_id') = ${id}`))
    .limit(1);
}

function inUse([panel]: { name: string }[]) {
  return conflict(`The panel "${panel?.name}" shows the leaderboard; change the panel first`);
}

function columnsOf({ name, period, startsAt = null, endsAt = null, channelIds, rules }: LeaderboardInput) {
  return { name, period, startsAt, endsAt, channelIds, rules };
}

function leaderboardEvent(verb: "created" | "updated" | "deleted", row: LeaderboardRow): NewEvent {
  return { type: `leaderboard.${verb}`, resource: `leaderboard/${row.id}`, data: toLeaderboard(row) };
}
