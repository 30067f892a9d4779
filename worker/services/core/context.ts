import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Db } from "#db/client.ts";
import { type DataProviderRow, idempotencyKeys, outbox } from "#db/schema/index.ts";
import type { AccountRole } from "#db/types.ts";
import { Failure, forbidden, hasMessage, LostRace } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Action, isSiteAdmin, managesPage } from "#worker/lib/roles.ts";

/** Who acts. A developer key is a site admin within its roles; `system` is Tifo itself (cron, queues, objects). */
export type Actor =
  | { kind: "anonymous" }
  | { kind: "developer"; id: string; roles: string[] }
  | { kind: "account"; id: string; sessionId: string; roles: AccountRole[]; tags: string[] }
  | { kind: "global"; id: string; sessionId: string }
  | { kind: "provider"; id: string; siteId: string }
  | { kind: "dataProvider"; id: string; provider: DataProviderRow }
  | { kind: "super" }
  | { kind: "system" };

/** An event of the site's log; `resource` is "<area>/<id>" and orders the events of one thing. */
export interface NewEvent {
  type: string;
  resource: string;
  data: Record<string, unknown>;
}

/** What every verb gets: the site it works for, who asks, and the means to read, change and tell. */
export interface Ctx {
  env: Env;
  /** Empty for operations of the deployment's operator. */
  siteId: string;
  db: Db;
  /** Milliseconds since 1970 UTC, one moment for the whole request. */
  now: number;
  requestId: string;
  /** "<method> <path>" of the operation, as declared: what stands in a path may be a token. Undefined where no request asks. */
  origin?: string;
  /** Resolves once the credentials are confirmed; free after the first read. */
  caller(): Promise<Actor>;
  /** Whose token it is, before that is confirmed: for reads that ride along with the check. */
  claimedAccountId?: string | undefined;
  /** The versions that If-Match names; undefined without that header. */
  ifMatch: number[] | undefined;
  /** From 2 on where the request is run again after it lost a race: what the credentials showed may have changed since. */
  attempt?: number;
  /** The device that the request names. */
  deviceId: string | undefined;
  /** The row of a request with an Idempotency-Key. */
  idempotencyId?: string;
  /** Where answers are too large to keep: what the verb left to answer the same again; set already when the request is a repeated one. */
  receipt?: string;
  /** What was committed, for the nudge at the end of the request: whose logs to wake, and which events need nothing more. */
  emitted: { siteIds: Set<string>; completedEventIds: string[] };
  /** Lets work go on after the answer. */
  defer(work: Promise<unknown>): void;
}

type Statement = BatchItem<"sqlite">;
type Changes = Statement | Statement[];

/** Writes changes and what is to be told of them in one batch, all or nothing; answers the ids of the events. */
export async function commit(ctx: Ctx, changes: Changes, ...events: NewEvent[]): Promise<string[]> {
  return write(ctx, changes, events, false);
}

/**
 * The same for changes that hold only as long as a row is as it was read: when the first change touches no row, because
 * another writer was faster, nothing at all is written and a 409 is thrown.
 */
export async function commitIfUnchanged(ctx: Ctx, changes: Changes, ...events: [NewEvent, ...NewEvent[]]): Promise<string[]> {
  return write(ctx, changes, events, true);
}

async function write(ctx: Ctx, changes: Changes, events: NewEvent[], conditional: boolean): Promise<string[]> {
  const [first, ...others]: Statement[] = [changes].flat();
  const actor = describeActor(await ctx.caller());
  const ids = events.map(() => newId(ctx.now));
  const eventInserts = events.map((event, index) => insertEvent(ctx, ids[index] ?? "", actor, event, conditional && index === 0));
  const statements = [first, ...eventInserts, ...others, answeredOnce(ctx)].filter((statement) => statement !== undefined);
  try {
    await batchAll(ctx.db, statements);
  } catch (error) {
    if (hasMessage(error, "NOT NULL constraint failed: outbox.type")) throw new LostRace();
    throw error;
  }
  if (events.length > 0) ctx.emitted.siteIds.add(ctx.siteId);
  return ids;
}

/** Wakes the logs of what this request has committed; a nudge that is lost on the way is made up for by the cron. */
export function nudgeLogs(ctx: Ctx): void {
  for (const siteId of ctx.emitted.siteIds) ctx.defer(ctx.env.SITE_LOG.getByName(siteId).nudge(ctx.emitted.completedEventIds));
}

/** A batch of any number of statements. */
export async function batchAll(db: Db, statements: BatchItem<"sqlite">[]): Promise<void> {
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

// SQLite's changes() counts the rows of the statement before: without one, `type` is null, which the table refuses and the batch rolls back.
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

/** From here on a repeated Idempotency-Key may not run the request again, even if its answer is never kept. */
function answeredOnce(ctx: Ctx): BatchItem<"sqlite"> | undefined {
  if (ctx.idempotencyId === undefined) return undefined;
  return ctx.db.update(idempotencyKeys).set({ state: "committed" }).where(eq(idempotencyKeys.id, ctx.idempotencyId));
}

/** The actor as events name it. */
export function describeActor(actor: Actor): string {
  return "id" in actor ? `${actor.kind}:${actor.id}` : actor.kind;
}

/** The row of this id, if it is the site's own. */
export function ownRow(ctx: Ctx, table: { id: SQLiteColumn; siteId: SQLiteColumn }, id: string): SQL | undefined {
  return and(eq(table.siteId, ctx.siteId), eq(table.id, id));
}

/** That row as it was read: for the change of a `commitIfCurrent`. */
export function whereVersion(
  ctx: Ctx,
  table: { id: SQLiteColumn; siteId: SQLiteColumn; version: SQLiteColumn },
  current: { id: string; version: number },
): SQL | undefined {
  return and(ownRow(ctx, table, current.id), eq(table.version, current.version));
}

/** A 412 when If-Match names other versions than that of the row. */
export function requireMatch(ctx: Ctx, current: { version: number }): void {
  if (ctx.ifMatch && !ctx.ifMatch.includes(current.version))
    throw new Failure("precondition_failed", "The resource has changed since the version in If-Match");
}

/** The columns that move with every change. */
export function nextVersion(ctx: Ctx, current: { version: number }): { modified: number; version: number } {
  requireMatch(ctx, current);
  return { modified: ctx.now, version: current.version + 1 };
}

/** The columns of a new row. */
export function newRow(ctx: Ctx): { id: string; siteId: string; created: number; modified: number; version: number } {
  return { id: newId(ctx.now), siteId: ctx.siteId, created: ctx.now, modified: ctx.now, version: 1 };
}

/** The account that calls, where an operation takes nobody else. */
export async function callerAccount(ctx: Ctx): Promise<Extract<Actor, { kind: "account" }>> {
  const actor = await ctx.caller();
  if (actor.kind !== "account") throw forbidden("Only accounts of the site may do this");
  return actor;
}

/** Whether a caller who was let in to read may read what a viewer's page doesn't need: a developer key or a site admin. */
export function isManager(actor: Actor): boolean {
  return actor.kind === "developer" || (actor.kind === "account" && isSiteAdmin(actor.roles, "read"));
}

/** 403 unless the caller manages this page: a developer key, a site admin, or a creator of it. */
export async function requirePage(ctx: Ctx, pageId: string, action: Action): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "account" && !managesPage(actor.roles, pageId, action)) throw forbidden("No permission for this channel");
}
