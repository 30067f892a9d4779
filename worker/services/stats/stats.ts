import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import type { Db } from "#db/client.ts";
import { dataProviders, type DataProviderRow } from "#db/schema/data-providers.ts";
import { type KeyPlayRow, keyPlays, statEntities, type StatHistoryRow, statHistory } from "#db/schema/stats.ts";
import type { StatMapping } from "#db/types.ts";
import { notFound } from "#worker/lib/errors.ts";
import { managesPage } from "#worker/lib/roles.ts";
import { commitIfUnchanged, type Ctx, nextVersion, updateRow } from "#worker/services/core/context.ts";
import { type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { newReferences, type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { getDataProvider } from "#worker/services/data-providers/data-providers.ts";
import { toAvailable } from "#worker/services/data-providers/schemas.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import type { EntityQuery, EntityView, HistoryQuery, KeyPlayQuery } from "./schemas.ts";

// Plain SQL, because drizzle omits the table name in single-table selects, and the columns would resolve to the inner table.
const latestFacts =
  sql<string>`(select json_group_object(fact, json_object('value', json(value), 'at', at) order by fact) from stat_facts where entity_id = stat_entities.id)`.as(
    "facts",
  );

/** Entities with the latest values of their facts. */
export function selectEntities(db: Db) {
  return db
    .select({ ...getTableColumns(statEntities), facts: latestFacts })
    .from(statEntities)
    .$dynamic();
}

const entityList = tableList<EntityView>({
  table: statEntities,
  rows: (db, slice) => sliceOf(selectEntities(db), slice),
  sort: { name: statEntities.name },
  defaultDirection: 1,
  search: { name: statEntities.name, team: statEntities.team },
});

const historyList = tableList<StatHistoryRow>({
  table: statHistory,
  rows: (db, slice) => sliceOf(db.select().from(statHistory).$dynamic(), slice),
  sort: { at: statHistory.at },
  search: {},
});

const playList = tableList<KeyPlayRow>({
  table: keyPlays,
  rows: (db, slice) => sliceOf(db.select().from(keyPlays).$dynamic(), slice),
  sort: { at: keyPlays.at },
  search: { title: keyPlays.title },
});

/** Lists the people and teams of a channel's event with their latest facts. The channel's gate applies. */
export async function listEntities(ctx: Ctx, channelId: string, query: z.output<typeof EntityQuery>): Promise<ListPage<EntityView>> {
  await requireViewer(ctx, channelId);
  const { type, externalId, team } = statEntities;
  return listRows(
    ctx,
    entityList,
    query,
    eq(statEntities.siteId, ctx.siteId),
    eq(statEntities.channelId, channelId),
    query.entityType === undefined ? undefined : eq(type, query.entityType),
    query.externalId === undefined ? undefined : eq(externalId, query.externalId),
    query.team === undefined ? undefined : eq(team, query.team),
  );
}

export async function getEntity(ctx: Ctx, channelId: string, id: string): Promise<EntityView> {
  await requireViewer(ctx, channelId);
  const [entity] = await selectEntities(ctx.db).where(
    and(eq(statEntities.siteId, ctx.siteId), eq(statEntities.channelId, channelId), eq(statEntities.id, id)),
  );
  if (!entity) throw notFound("Entity not found");
  return entity;
}

/** Lists the changes of an entity's facts, the latest first. */
export async function listHistory(
  ctx: Ctx,
  channelId: string,
  id: string,
  query: z.output<typeof HistoryQuery>,
): Promise<ListPage<StatHistoryRow>> {
  const { id: entityId } = await getEntity(ctx, channelId, id);
  return listRows(
    ctx,
    historyList,
    query,
    eq(statHistory.entityId, entityId),
    query.fact === undefined ? undefined : eq(statHistory.fact, query.fact),
  );
}

export async function listKeyPlays(ctx: Ctx, channelId: string, query: z.output<typeof KeyPlayQuery>): Promise<ListPage<KeyPlayRow>> {
  await requireViewer(ctx, channelId);
  return listRows(
    ctx,
    playList,
    query,
    eq(keyPlays.siteId, ctx.siteId),
    eq(keyPlays.channelId, channelId),
    query.kind === undefined ? undefined : eq(keyPlays.kind, query.kind),
  );
}

/** Sets what is kept of a provider's events. Later events follow it; what is kept already stays. */
export async function setMapping(ctx: Ctx, providerId: string, mapping: StatMapping): Promise<DataProviderRow> {
  const current = await getDataProvider(ctx, providerId);
  const isEmpty = mapping.entities.length + mapping.keyPlays.length === 0;
  const next: DataProviderRow = { ...current, statMapping: isEmpty ? null : mapping, ...nextVersion(ctx, current) };
  const references = newReferences(inMapping(mapping), current.statMapping ? inMapping(current.statMapping) : []);
  const change = updateRow(ctx, dataProviders, current, next, referencesExist(ctx, references));
  await withReferences(ctx, references, () =>
    commitIfUnchanged(ctx, change, {
      type: "dataprovider.providerUpdated",
      resource: `dataprovider/${next.id}`,
      data: toAvailable(next),
    }),
  );
  return next;
}

function inMapping({ entities, keyPlays: plays }: StatMapping): Reference[] {
  const named = (list: { channelId: string }[], path: string) =>
    list.map(({ channelId: id }, index): Reference => ({ kind: "channel", path: `${path}.${index}.channelId`, id }));
  return [...named(entities, "entities"), ...named(plays, "keyPlays")];
}

/** Throws unless the caller may watch the channel, or manages it. */
async function requireViewer(ctx: Ctx, channelId: string): Promise<void> {
  await requireChannelAccess(ctx, channelId, (actor) => actor.kind === "account" && managesPage(actor.roles, channelId, "read"));
}
