import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";

/** A D1 database of the Worker: `DB`, and one for each further shard. */
export interface Database {
  binding: string;
  name: string;
}

const NO_DATABASE_ID = "00000000-0000-0000-0000-000000000000";
const SHARD = /^DB(_(?:[2-9]|[1-9]\d+))?$/;

export function readConfig(): string {
  return readFileSync(join(ROOT, "wrangler.toml"), "utf8");
}

/** The databases that a wrangler.toml binds, the directory first. */
export function databasesIn(config: string): Database[] {
  const databases = sectionsOf(config).flatMap((section) => {
    const { binding, database_name: name } = valuesOf(section);
    return section.startsWith(HEADER) && binding !== undefined && name !== undefined ? [{ binding, name }] : [];
  });
  for (const { binding } of databases)
    if (!SHARD.test(binding)) throw new Problem(`wrangler.toml: a database is bound as DB, DB_2, DB_3 and so on, not as ${binding}`);
  return databases.sort((one, other) => one.binding.length - other.binding.length || (one.binding < other.binding ? -1 : 1));
}

/** A wrangler.toml with the ids of an account's databases. */
export function withDatabaseIds(config: string, ids: ReadonlyMap<string, string>): string {
  return sectionsOf(config)
    .map((section) => {
      const id = section.startsWith(HEADER) ? ids.get(valuesOf(section).binding ?? "") : undefined;
      return id === undefined ? section : section.replace(NO_DATABASE_ID, id);
    })
    .join("");
}

const HEADER = "[[d1_databases]]";

/** A config's tables, each with its header; joined, they are the config. */
export function sectionsOf(config: string): string[] {
  return config.split(/^(?=\[)/m);
}

function valuesOf(section: string): Partial<Record<string, string>> {
  return Object.fromEntries([...section.matchAll(/^(\w+)\s*=\s*"([^"]*)"/gm)].map(([, name = "", value = ""]) => [name, value]));
}
