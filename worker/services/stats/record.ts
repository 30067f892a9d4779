import { and, eq, lt, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { pages } from "#db/schema/pages.ts";
import { keyPlays, statEntities, statFacts, statHistory } from "#db/schema/stats.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { dataOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { derivedId, type Found, readEvent } from "./mapping.ts";
import { notifyOfFacts } from "./viewers.ts";

const HISTORY_MS = 30 * 86_400_000;
/** Rows in one statement's parameter. */
const CHUNK = 500;

/**
 * Effect of a provider's event: keeps what it says about the entities of a channel, and notifies viewers. Safe to repeat and in any order:
 * ids derive from the event, and nothing overwrites what a later event says.
 */
export async function recordFacts(env: Env, siteId: string, logged: LoggedEvent<"dataprovider.event">): Promise<void> {
  const { id: eventId, providerId, at: receivedAt, data } = dataOf(logged);
  const db = siteDb(env, siteId);
  const [provider] = await db
    .select({ mapping: dataProviders.statMapping })
    .from(dataProviders)
    .where(and(eq(dataProviders.siteId, siteId), eq(dataProviders.id, providerId)));
  if (!provider?.mapping) return;
  const found = readEvent(provider.mapping, data, { siteId, providerId, eventId, receivedAt });
  await batchAll(db, factStatements(db, found, { siteId, eventId, receivedAt }));
  await notifyOfFacts(env, siteId, found);
}

/** Deletes the history after 30 days; the latest values stay as long as the channel. */
export async function pruneStatHistory({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(statHistory).where(lt(statHistory.created, now - HISTORY_MS));
}

/** The statements, for the batch that deletes a channel, that delete its facts. */
export function deleteStatsOfChannel(ctx: Ctx, channelId: string): BatchItem<"sqlite">[] {
  return [statEntities, statFacts, statHistory, keyPlays].map((table) =>
    ctx.db.delete(table).where(and(eq(table.siteId, ctx.siteId), eq(table.channelId, channelId))),
  );
}

interface Event {
  siteId: string;
  eventId: string;
  receivedAt: number;
}

/** The statements that keep what an event says. */
export function factStatements(db: Db, { entities, facts, plays }: Found, event: Event): BatchItem<"sqlite">[] {
  const changes = facts.map((fact) => ({ ...fact, value: JSON.stringify(fact.value), historyId: derivedId(event.eventId, fact.id) }));
  return [
    ...chunks(entities).map((rows) => upsertEntities(db, rows, event)),
    // Before the latest values, with which it compares.
    ...chunks(changes).map((rows) => insertHistory(db, rows, event)),
    ...chunks(changes).map((rows) => upsertFacts(db, rows, event)),
    ...chunks(plays).map((rows) => upsertPlays(db, rows, event)),
  ];
}

/** The rows as a table with these columns, those of deleted channels left out: the event may be older than the deletion. */
function given(rows: object[], { siteId }: Event): SQL {
  return sql`from json_each(${JSON.stringify(rows)}) as row
    where exists (select 1 from ${pages} where ${pages.id} = row.value ->> 'channelId' and ${pages.siteId} = ${siteId} and ${pages.type} = 'channel')`;
}

const IS_LATER = (table: string) => sql.raw(`(excluded.at, excluded.event_id) >= (${table}.at, ${table}.event_id)`);

function upsertEntities(db: Db, rows: object[], event: Event) {
  const { siteId, eventId, receivedAt } = event;
  return db.run(sql`insert into ${statEntities} (id, site_id, channel_id, type, external_id, name, image, team, at, event_id, created)
    select row.value ->> 'id', ${siteId}, row.value ->> 'channelId', row.value ->> 'type', row.value ->> 'externalId',
      coalesce(row.value ->> 'name', ''), row.value ->> 'image', row.value ->> 'team', row.value ->> 'at', ${eventId}, ${receivedAt}
    ${given(rows, event)}
    on conflict (id) do update set name = iif(excluded.name = '', name, excluded.name), image = coalesce(excluded.image, image),
      team = coalesce(excluded.team, team), at = excluded.at, event_id = excluded.event_id
    where ${IS_LATER("stat_entities")}`);
}

/** Every change of a value; an event that repeats the latest value isn't one. */
function insertHistory(db: Db, rows: object[], event: Event) {
  const { siteId, eventId, receivedAt } = event;
  return db.run(sql`insert or ignore into ${statHistory} (id, site_id, channel_id, entity_id, fact, value, at, event_id, created)
    select row.value ->> 'historyId', ${siteId}, row.value ->> 'channelId', row.value ->> 'entityId', row.value ->> 'fact',
      row.value ->> 'value', row.value ->> 'at', ${eventId}, ${receivedAt}
    ${given(rows, event)}
    and not exists (select 1 from ${statFacts} as latest where latest.id = row.value ->> 'id' and latest.value = row.value ->> 'value'
      and latest.at <= row.value ->> 'at')`);
}

function upsertFacts(db: Db, rows: object[], event: Event) {
  const { siteId, eventId } = event;
  return db.run(sql`insert into ${statFacts} (id, site_id, channel_id, entity_id, fact, value, at, event_id)
    select row.value ->> 'id', ${siteId}, row.value ->> 'channelId', row.value ->> 'entityId', row.value ->> 'fact',
      row.value ->> 'value', row.value ->> 'at', ${eventId}
    ${given(rows, event)}
    on conflict (id) do update set value = excluded.value, at = excluded.at, event_id = excluded.event_id
    where ${IS_LATER("stat_facts")}`);
}

function upsertPlays(db: Db, rows: object[], event: Event) {
  const { siteId, eventId, receivedAt } = event;
  return db.run(sql`insert into ${keyPlays} (id, site_id, channel_id, kind, title, description, entity_id, media_time, at, event_id, created)
    select row.value ->> 'id', ${siteId}, row.value ->> 'channelId', row.value ->> 'kind', row.value ->> 'title',
      row.value ->> 'description', row.value ->> 'entityId', row.value ->> 'mediaTime', row.value ->> 'at', ${eventId}, ${receivedAt}
    ${given(rows, event)}
    on conflict (id) do update set kind = excluded.kind, title = excluded.title, description = excluded.description,
      entity_id = excluded.entity_id, media_time = excluded.media_time, at = excluded.at, event_id = excluded.event_id
    where ${IS_LATER("key_plays")}`);
}

function chunks<T>(rows: T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, index) => rows.slice(index * CHUNK, (index + 1) * CHUNK));
}
