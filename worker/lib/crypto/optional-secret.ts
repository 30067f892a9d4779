/** Optional secrets of a deployment: without one, the feature it enables responds with 503. */
export type OptionalSecret =
  | "TIFO_CHAT_GUARD_KEY"
  | "TIFO_TRANSLATE_KEY"
  | "TIFO_IGDB_CLIENT_ID"
  | "TIFO_IGDB_CLIENT_SECRET"
  | "TIFO_SHOPIFY_DOMAIN"
  | "TIFO_SHOPIFY_TOKEN"
  | "TIFO_SHOPIFY_WEBHOOK_SECRET"
  | "TIFO_STRIPE_KEY"
  | "TIFO_STRIPE_WEBHOOK_SECRET"
  | "TIFO_YOUTUBE_KEY";

/** The generated `Env` only has required secrets. */
export function optionalSecret(env: Env, name: OptionalSecret): string | undefined {
  const value: unknown = Reflect.get(env, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}
