import type { D1Queries } from "#db/sessions.ts";

/** A bookmark as D1 writes them, of a database's nth state. */
export function bookmarkAt(state: number): string {
  return `${state.toString(16).padStart(8, "0")}-00000000-00004c6d-${"ab".repeat(16)}`;
}

/** A stand-in for a D1 database with replicas, which are no older than the primary unless a test says otherwise. */
export class ReplicatedDatabase {
  /** What sessions began with, one for each round trip. */
  readonly trips: string[] = [];
  /** Round trips without a session: always at the primary. */
  plain = 0;
  /** What a replica says instead of the database. */
  replica: "current" | "empty" | "failing" = "current";
  state = 1;
  readonly #database: D1Database;

  constructor(database: D1Database) {
    this.#database = database;
  }

  get binding(): D1Database {
    const queries = this.#queries(() => void (this.plain += 1), false);
    return replaceIn(this.#database, {
      ...queries,
      withSession: (from: string) => {
        let reached: string | null = null;
        const begin = () => {
          this.trips.push(from);
          reached = bookmarkAt(this.state);
        };
        return { ...this.#queries(begin, from !== "first-primary"), getBookmark: () => reached };
      },
    });
  }

  #queries(begin: () => void, isReplica: boolean): D1Queries {
    const trip = <T>(run: () => Promise<T>, nothing: T): Promise<T> => {
      begin();
      if (!isReplica || this.replica === "current") return run();
      return this.replica === "empty" ? Promise.resolve(nothing) : Promise.reject(new Error("D1_ERROR: no such bookmark"));
    };
    const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
      const wrapped = replaceIn(statement, {
        bind: (...values: unknown[]) => wrap(statement.bind(...values)),
        raw: () => trip(() => statement.raw(), []),
      });
      originals.set(wrapped, statement);
      return wrapped;
    };
    const original = (statement: D1PreparedStatement) => originals.get(statement) ?? statement;
    return {
      prepare: (sql: string) => wrap(this.#database.prepare(sql)),
      batch: <T>(statements: D1PreparedStatement[]) =>
        trip(
          () => this.#database.batch<T>(statements.map(original)),
          statements.map(() => ({ results: [], success: true, meta: NO_META })),
        ),
    };
  }
}

/** An object with some of its methods replaced. */
function replaceIn<T extends object>(object: T, replaced: Record<string, unknown>): T {
  return new Proxy(object, { get: (own, name): unknown => (typeof name === "string" && replaced[name]) || Reflect.get(own, name) });
}

const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
const NO_META: D1Meta & Record<string, unknown> = {
  duration: 0,
  size_after: 0,
  rows_read: 0,
  rows_written: 0,
  last_row_id: 0,
  changed_db: false,
  changes: 0,
};
