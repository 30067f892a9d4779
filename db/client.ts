import { drizzle, type SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";

export type Db = SqliteRemoteDatabase;

/** What D1 was asked for; goes into the log line of the request, and tests assert it. */
export interface D1Usage {
  roundTrips: number;
  statements: number;
  /** Round trips that changed something; unset before the first. */
  writes?: number;
}

/**
 * A check that must have passed before D1 sees anything of a request's own.
 * `pending()` gives its statement while the check is open; `settle(row)` throws when it fails.
 */
export interface DbGuard {
  pending(): { sql: string; params: unknown[] } | undefined;
  settle(row: unknown[] | undefined): void;
  /** Called after the check and before any row is returned or changed; throws if the request may not go on. */
  admit?(): Promise<void>;
}

/**
 * Drizzle over D1. With a guard, the guard's statement rides in the same round trip as the first read,
 * and goes ahead of the first write: nothing is read out or changed for a caller who isn't let in.
 */
export function createDb(d1: D1Database, guard?: DbGuard, usage: D1Usage = { roundTrips: 0, statements: 0 }): Db {
  async function execute(queries: { sql: string; params: unknown[] }[]): Promise<unknown[][][]> {
    const check = guard?.pending();
    if (check && queries.every((query) => isRead(query.sql))) {
      const [row, ...rest] = await run([check, ...queries]);
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

  async function run(queries: { sql: string; params: unknown[] }[]): Promise<unknown[][][]> {
    usage.roundTrips += 1;
    usage.statements += queries.length;
    const results = await send(queries);
    if (!queries.every((query) => isRead(query.sql))) usage.writes = (usage.writes ?? 0) + 1;
    return results;
  }

  async function send(queries: { sql: string; params: unknown[] }[]): Promise<unknown[][][]> {
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

/** A D1 batch answers rows as objects, so two columns of one name would silently become one: refuse to send such a query. */
function distinctColumns(sql: string): string {
  const list = /^select (.*?) from /is.exec(sql)?.[1];
  if (!list || list.includes("(")) return sql;
  const names = list.split(", ").map((column) => /"([^"]+)"$/.exec(column)?.[1] ?? column);
  if (new Set(names).size !== names.length) throw new Error(`Columns of one name in a batch; give them aliases: ${list}`);
  return sql;
}
