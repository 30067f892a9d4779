import { is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";

/** All tables of `db/schema`. */
export const tables: SQLiteTable[] = Object.values(import.meta.glob("../db/schema/**/*.ts", { eager: true }))
  .flatMap((module) => Object.values(module))
  .filter((value) => is(value, SQLiteTable));
