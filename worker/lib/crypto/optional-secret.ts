/** Secrets that a deployment may do without: what they turn on answers a 503 that says so. */
export type OptionalSecret =
  "TIFO_IGDB_CLIENT_ID" | "TIFO_IGDB_CLIENT_SECRET" | "TIFO_STRIPE_KEY" | "TIFO_STRIPE_WEBHOOK_SECRET" | "TIFO_YOUTUBE_KEY";

/** The generated `Env` knows only secrets that must be set. */
export function optionalSecret(env: Env, name: OptionalSecret): string | undefined {
  const value: unknown = Reflect.get(env, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}
