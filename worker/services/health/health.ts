import { Failure } from "#worker/lib/errors.ts";

/** Makes a trivial call to D1 and to a Durable Object; throws a 503 that names the one that didn't respond. */
export async function checkHealth(env: Env): Promise<void> {
  await probe("The database", () => env.DB.prepare("select 1 from sites limit 1").run());
  await probe("Durable Objects", () => env.LIMITER.getByName("health").peek("signIn", ""));
}

async function probe(component: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (cause) {
    throw new Failure("unavailable", `${component} did not respond`, { cause });
  }
}
