import { and, eq, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn, SQLiteTable, SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { Db } from "#db/client.ts";
import type { DataProviderRow } from "#db/schema/data-providers.ts";
import { idempotencyKeys, outbox } from "#db/schema/events.ts";
import type { AccountRole } from "#db/types.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { Failure, forbidden, hasMessage, LostRace } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Action, isSiteAdmin, managedChannels, managesPage } from "#worker/lib/roles.ts";
import type { EventData, EventType } from "#worker/services/event-catalogue/event-catalogue.ts";

/** The caller. A developer key acts as a site admin within its roles; `system` is Tifo itself (cron, queues, objects). */
export type Actor =
  | { kind: "anonymous" }
  | { kind: "developer"; id: string; roles: string[] }
  | { kind: "account"; id: string; sessionId: string; roles: AccountRole[]; tags: string[] }
  | { kind: "global"; id: string; sessionId: string }
  | { kind: "provider"; id: string; siteId: string }
  | { kind: "dataProvider"; id: string; provider: DataProviderRow }
  | { kind: "super" }
  | { kind: "system" };

/** An event for the site log; `resource` is "<area>/<id>". Events of one resource are ordered. */
export type NewEvent<Type extends EventType = EventType> = { [T in Type]: { type: T; resource: string; data: EventData<T> } }[Type];

/** The context of every operation: the site, the caller, and the means to read, write and emit events. */
export interface Ctx {
  env: Env;
  /** Empty for operations of the deployment's operator. */
  siteId: string;
  db: Db;
  /** Milliseconds since 1970 UTC; the same throughout the request. */
  now: number;
  requestId: string;
  /** "<method> <path>" as declared, since the actual path may contain a token. Undefined outside of a request. */
  origin?: string;
  /** Resolves once the credentials are verified; without cost after the first read. */
  caller(): Promise<Actor>;
  /** The account that the token claims, before it is verified: for reads in the same batch as the check. */
  claimedAccountId?: string | undefined;
  /** The versions in If-Match; undefined without that header. */
  ifMatch: number[] | undefined;
  /** 2 or more if the request is retried after it lost a race, when the credentials may have changed. */
  attempt?: number;
  /** The device id in the request. */
  deviceId: string | undefined;
  /** The id of the request's Idempotency-Key row. */
  idempotencyId?: string;
  /** What the commit also writes, or fails with: how a scheduled action or a take is recorded by what it does. */
  alongside?: { changes: BatchItem<"sqlite">[]; event: NewEvent };
  /** For responses too large to store: what the operation needs to rebuild the response. Already set if the request is a retry. */
  receipt?: string;
  /** What was committed, for the nudge after the request: the site logs to wake, and the events whose effects are complete. */
  emitted: { siteIds: Set<string>; completedEventIds: string[] };
  /** Lets work continue after the response is sent. */
  defer(work: Promise<unknown>): void;
}

type Statement = BatchItem<"sqlite">;
type Changes = Statement | Statement[];

/** Writes changes and their events in one atomic batch; returns the ids of the events. */
export async function commit(ctx: Ctx, changes: Changes, ...events: NewEvent[]): Promise<string[]> {
  return write(ctx, changes, events, false);
}

/**
 * Like `commit`, for changes that require an unchanged row: if the first change affects no row because of a concurrent
 * write, nothing is written and a 409 is thrown.
 */
export async function commitIfUnchanged(ctx: Ctx, changes: Changes, ...events: [NewEvent, ...NewEvent[]]): Promise<string[]> {
  return write(ctx, changes, events, true);
}

async function write(ctx: Ctx, changes: Changes, events: NewEvent[], conditional: boolean): Promise<string[]> {
  const [first, ...others]: Statement[] = [changes].flat();
  const actor = describeActor(await ctx.caller());
  const ids = events.map(() => newId(ctx.now));
  const eventInserts = events.map((event, index) => insertEvent(ctx, ids[index] ?? "", actor, event, conditional && index === 0));
  const alongside = ctx.alongside && [...ctx.alongside.changes, insertEvent(ctx, newId(ctx.now), actor, ctx.alongside.event, false)];
  const statements = [first, ...eventInserts, ...others, ...(alongside ?? []), markCommitted(ctx)].filter(
    (statement) => statement !== undefined,
  );
  try {
    await batchAll(ctx.db, statements);
  } catch (error) {
    if (hasMessage(error, "NOT NULL constraint failed: outbox.type")) throw new LostRace();
    throw error;
  }
  if (events.length > 0) ctx.emitted.siteIds.add(ctx.siteId);
  return ids;
}

/** Wakes the site logs that this request has written events for. The cron makes up for a lost nudge. */
export function nudgeLogs(ctx: Ctx): void {
  for (const siteId of ctx.emitted.siteIds) ctx.defer(siteLogOf(ctx.env, siteId).nudge(ctx.emitted.completedEventIds));
}

/** Wakes the site's log for a request whose work an earlier one has done: that one may have died before it could. Returns what it did. */
export function nudgeAgain<T>(ctx: Ctx, done: T): T {
  ctx.defer(siteLogOf(ctx.env, ctx.siteId).nudge());
  return done;
}

/** Runs any number of statements in a batch. */
export async function batchAll(db: Db, statements: BatchItem<"sqlite">[]): Promise<void> {
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

// changes() is the row count of the previous statement: if it is 0, `type` is null, which violates NOT NULL and rolls the batch back.
function insertEvent(ctx: Ctx, eventId: string, actor: string, event: NewEvent, conditional: boolean): BatchItem<"sqlite"> {
  return ctx.db.insert(outbox).values({
    siteId: ctx.siteId,
    eventId,
    type: conditional ? sql<string>`case when changes() > 0 then ${event.type} end` : event.type,
    resource: event.resource,
    data: event.data,
    actor,
    requestId: ctx.requestId,
    origin: ctx.origin ?? null,
    created: ctx.now,
  });
}

/** Once committed, a repeated Idempotency-Key must not run the request again, even if its response is never stored. */
function markCommitted(ctx: Ctx): BatchItem<"sqlite"> | undefined {
  if (ctx.idempotencyId === undefined) return undefined;
  return ctx.db.update(idempotencyKeys).set({ state: "committed" }).where(eq(idempotencyKeys.id, ctx.idempotencyId));
}

/** The actor as it appears in events. */
export function describeActor(actor: Actor): string {
  return "id" in actor ? `${actor.kind}:${actor.id}` : actor.kind;
}

/** Matches the row with this id if it belongs to the site. */
export function ownRow(ctx: Ctx, table: { id: SQLiteColumn; siteId: SQLiteColumn }, id: string): SQL | undefined {
  return and(eq(table.siteId, ctx.siteId), eq(table.id, id));
}

/**
 * Matches the site's rows with these ids; an expression's value is a JSON array. Otherwise they are bound as one parameter, because D1 allows
 * only 100. The plus keeps SQLite off the indexes of the site: without statistics, it expects fewer rows of a site than ids in a list, and
 * would read all rows of the site to find a few.
 */
export function ownRows(
  { siteId }: { siteId: string | Placeholder },
  table: { id: SQLiteColumn; siteId: SQLiteColumn },
  ids: string[] | SQL,
): SQL {
  const list = Array.isArray(ids) ? JSON.stringify(ids) : ids;
  return sql`+${table.siteId} = ${siteId} and ${table.id} in (select value from json_each(${list}))`;
}

/** Matches the row in the version that was read, for the change of a `commitIfUnchanged`. */
export function whereVersion(
  ctx: Ctx,
  table: { id: SQLiteColumn; siteId: SQLiteColumn; version: SQLiteColumn },
  current: { id: string; version: number },
): SQL | undefined {
  return and(ownRow(ctx, table, current.id), eq(table.version, current.version));
}

interface VersionedTable extends SQLiteTable {
  id: SQLiteColumn;
  siteId: SQLiteColumn;
  version: SQLiteColumn;
}

/** Updates the row if it is still in the version that was read and meets the conditions: the change of a `commitIfUnchanged`. */
export function updateRow<Table extends VersionedTable>(
  ctx: Ctx,
  table: Table,
  current: { id: string; version: number },
  next: SQLiteUpdateSetSource<Table>,
  ...conditions: (SQL | undefined)[]
) {
  return ctx.db
    .update(table)
    .set(next)
    .where(and(whereVersion(ctx, table, current), ...conditions));
}

/** Deletes the row if it is still in the version that was read: the change of a `commitIfUnchanged`. */
export function deleteRow(ctx: Ctx, table: VersionedTable, current: { id: string; version: number }) {
  return ctx.db.delete(table).where(whereVersion(ctx, table, current));
}

/** Throws a 412 if If-Match doesn't include the row's version. */
export function requireMatch(ctx: Ctx, current: { version: number }): void {
  if (ctx.ifMatch && !ctx.ifMatch.includes(current.version))
    throw new Failure("precondition_failed", "The resource has changed since the version in If-Match");
}

/** The columns that every change updates. */
export function nextVersion(ctx: Ctx, current: { version: number }): { modified: number; version: number } {
  requireMatch(ctx, current);
  return { modified: ctx.now, version: current.version + 1 };
}

/** The columns of a new row. */
export function newRow(ctx: Pick<Ctx, "siteId" | "now">): {
  id: string;
  siteId: string;
  created: number;
  modified: number;
  version: number;
} {
  return { id: newId(ctx.now), siteId: ctx.siteId, created: ctx.now, modified: ctx.now, version: 1 };
}

/** The calling account, for operations that only accounts may call. */
export async function callerAccount(ctx: Ctx): Promise<Extract<Actor, { kind: "account" }>> {
  const actor = await ctx.caller();
  if (actor.kind !== "account") throw forbidden("Only accounts of the site may do this");
  return actor;
}

/** Whether the caller may also read what viewers may not: a developer key or a site admin. */
export function isManager(actor: Actor): boolean {
  return actor.kind === "developer" || (actor.kind === "account" && isSiteAdmin(actor.roles, "read"));
}

/** The channels of a creator, or "all" for everybody else who may call. Costs a round trip only for accounts. */
export async function channelsOfCaller(ctx: Ctx): Promise<"all" | string[]> {
  if (ctx.claimedAccountId === undefined) return "all";
  const actor = await ctx.caller();
  return actor.kind === "account" ? managedChannels(actor.roles) : "all";
}

/** Throws a 403 unless the caller manages this page: a developer key, a site admin, or one of its creators. */
export async function requirePage(ctx: Ctx, pageId: string, action: Action): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "account" && !managesPage(actor.roles, pageId, action)) throw forbidden("No permission for this channel");
}
