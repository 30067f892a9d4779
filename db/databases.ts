import { createDb, type D1Usage, type Db, type DbGuard } from "./client.ts";

// The only file that names a D1 binding: everything else asks for the database of a site, or for the directory.

/** The database that holds a site's rows; the directory for the empty id, which stands for the deployment. */
export function siteDatabase(env: Env, _siteId: string): D1Database {
  return env.DB;
}

/** Drizzle over the database of a site. */
export function siteDb(env: Env, siteId: string, guard?: DbGuard, usage?: D1Usage): Db {
  return createDb(siteDatabase(env, siteId), guard, usage);
}

/** Drizzle over the database of what belongs to no site, or is looked up before the site is known. */
export function directoryDb(env: Env): Db {
  return createDb(env.DB);
}

/** Every database of the deployment; the directory comes first. */
export function allDatabases(env: Env): [D1Database, ...D1Database[]] {
  return [env.DB];
}
