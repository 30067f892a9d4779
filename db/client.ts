import { drizzle, type SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import type { D1Queries, RequestSessions } from "./sessions.ts";

export type Db = SqliteRemoteDatabase;

/** D1 usage of a request. It is part of the request's log line, and tests assert it. */
export interface D1Usage {
  roundTrips: number;
  statements: number;
  /** Round trips with at least one write; undefined before the first. */
  writes?: number;
}

/**
 * A check that must pass before any query of the request takes effect.
 * `pending()` returns its statement until the check is done; `settle(row)` throws if it fails.
 */
export interface DbGuard {
  pending(): Query | undefined;
  settle(row: unknown[] | undefined): void;
  /** Called after the check and before any row is returned or changed; throws if the request may not continue. */
  admit?(): Promise<void>;
}

export interface Query {
  sql: string;
  params: unknown[];
}

/** The rows of each query of a batch. */
export type Results = unknown[][][];

interface DbOptions {
  /** Reads that a replica can't answer are repeated at the primary. */
  sessions?: Pick<RequestSessions, "leaveReplica"> | undefined;
  /** A batch that failed is repeated as long as this says so. */
  isTemporary?: ((error: unknown) => Promise<boolean>) | undefined;
  /** Sends a batch that only reads, or uses what another request reads. */
  share?: ((queries: Query[], send: () => Promise<Results>) => Promise<Results>) | undefined;
}

/** A database, or how it is found when the first query runs. */
export type D1Source = D1Database | ((usage: D1Usage) => D1Queries | Promise<D1Queries>);

/**
 * Drizzle over D1. The statement of a guard runs in the same round trip as the first read, and in its own before the first write, so
 * nothing is returned or changed for an unauthorised caller.
 */
export function createDb(
  source: D1Source,
  guard?: DbGuard,
  usage: D1Usage = { roundTrips: 0, statements: 0 },
  { sessions, isTemporary, share }: DbOptions = {},
): Db {
  async function execute(queries: Query[]): Promise<Results> {
    const check = guard?.pending();
    if (check && queries.every((query) => isRead(query.sql))) {
      let [row, ...rest] = await run([check, ...queries]);
      // A replica doesn't know a site yet that has just been created.
      if (row?.[0] === undefined && sessions?.leaveReplica()) [row, ...rest] = await run([check, ...queries]);
      guard?.settle(row?.[0]);
      await guard?.admit?.();
      return rest;
    }
    if (check) {
      const [row] = await run([check]);
      guard?.settle(row?.[0]);
    }
    if (guard?.admit) await guard.admit();
    return run(queries);
  }

  async function run(queries: Query[]): Promise<Results> {
    const onlyReads = queries.every((query) => isRead(query.sql));
    const sent = onlyReads && share ? share(queries, () => runOnce(queries)) : runOnce(queries);
    const results = await sent.catch(async (error: unknown) => {
      // A bookmark that the database doesn't have, such as one from before a restore, is no reason to fail.
      if (onlyReads && sessions?.leaveReplica()) return runOnce(queries);
      if (!(await isTemporary?.(error))) throw error;
      return run(queries);
    });
    if (!onlyReads) usage.writes = (usage.writes ?? 0) + 1;
    return results;
  }

  async function runOnce(queries: Query[]): Promise<Results> {
    const d1 = typeof source === "function" ? await source(usage) : source;
    usage.roundTrips += 1;
    usage.statements += queries.length;
    return send(d1, queries);
  }

  async function send(d1: D1Queries, queries: Query[]): Promise<Results> {
    const [only] = queries;
    if (only && queries.length === 1)
      return [
        await d1
          .prepare(only.sql)
          .bind(...only.params)
          .raw<unknown[]>(),
      ];
    const results = await d1.batch<Record<string, unknown>>(
      queries.map((query) => d1.prepare(distinctColumns(query.sql)).bind(...query.params)),
    );
    return results.map((result) => result.results.map((row) => Object.values(row)));
  }

  return drizzle(
    async (sql, params, method) => {
      const [rows = []] = await execute([{ sql, params }]);
      return { rows: method === "get" ? (rows[0] ?? []) : rows };
    },
    async (batch) => {
      const results = await execute(batch);
      return results.map((rows, index) => ({ rows: batch[index]?.method === "get" ? (rows[0] ?? []) : rows }));
    },
  );
}

function isRead(sql: string): boolean {
  return /^\s*select\b/i.test(sql);
}

/** A D1 batch returns rows as objects, so two columns with the same name would silently collapse into one: throws for such a query. */
function distinctColumns(sql: string): string {
  const list = /^select (.*?) from /is.exec(sql)?.[1];
  if (!list || list.includes("(")) return sql;
  const names = list.split(", ").map((column) => /"([^"]+)"$/.exec(column)?.[1] ?? column);
  if (new Set(names).size !== names.length) throw new Error(`Duplicate column names in a batch; use aliases: ${list}`);
  return sql;
}
