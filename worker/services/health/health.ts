import { Failure } from "#worker/lib/errors.ts";

/** Asks D1 and a Durable Object something trivial; a 503 says which did not answer. */
export async function checkHealth(env: Env): Promise<void> {
  await probe("The database", () => env.DB.prepare("select 1 from sites limit 1").run());
  await probe("Durable Objects", () => env.LIMITER.getByName("health").peek("signIn", ""));
}

async function probe(what: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (cause) {
    throw new Failure("unavailable", `${what} did not answer`, { cause });
  }
}
