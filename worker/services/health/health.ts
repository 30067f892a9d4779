import { allDatabases } from "#db/databases.ts";
import { orUnavailable } from "#worker/durable-objects/stubs.ts";

/** Makes a trivial call to D1 and to a Durable Object; throws a 503 that names the one that didn't respond. */
export async function checkHealth(env: Env): Promise<void> {
  await orUnavailable(Promise.all(allDatabases(env).map(queryDatabase)), "The database did not respond");
  await orUnavailable(env.LIMITER.getByName("health").peek("signIn", ""), "Durable Objects did not respond");
}

async function queryDatabase(database: D1Database): Promise<void> {
  await database.prepare("select 1 from sites limit 1").run();
}
