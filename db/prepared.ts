import { fillPlaceholders, type Placeholder, type Query } from "drizzle-orm";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import type { Db } from "./client.ts";

/** A value, or where a prepared statement has it filled in. */
export type Bound<T> = T | Placeholder;

/** What a statement leaves open: the values of its `sql.placeholder(name)`. */
export type Values = Record<string, string | number>;

interface Compiled {
  getQuery(): Query;
  mapResult(response: unknown, isFromBatch?: boolean): unknown;
}

type Select<T> = RunnableQuery<T, "sqlite"> & { prepare(): Compiled };

// Builds queries and runs none.
const builder: Db = drizzle(() => Promise.reject(new Error("Run a prepared statement by `db.batch`")));

/**
 * Compiles a select once per isolate, on its first use: drizzle takes 30 to 50 µs for that, more than all else of a read.
 * For the reads that most requests make: `db.batch([byId({ siteId, id })])`.
 */
export function prepared<T>(build: (db: Db) => Select<T>): (values: Values) => Prepared<T> {
  let compiled: Compiled | undefined;
  return (values) => new Prepared((compiled ??= build(builder).prepare()), values);
}

/** One run of a prepared select; a value that is missing is an error. */
export class Prepared<T> implements RunnableQuery<T, "sqlite"> {
  declare readonly _: { readonly dialect: "sqlite"; readonly result: T };
  readonly #compiled: Compiled;
  readonly #values: Values;

  constructor(compiled: Compiled, values: Values) {
    this.#compiled = compiled;
    this.#values = values;
  }

  toSQL(): Query {
    const query = this.#compiled.getQuery();
    return { ...query, params: fillPlaceholders(query.params, this.#values) };
  }

  /** As drizzle's batch asks of each of its queries. */
  _prepare(): Compiled {
    return { getQuery: () => this.toSQL(), mapResult: (response, isFromBatch) => this.#compiled.mapResult(response, isFromBatch) };
  }
}
