import { z } from "@hono/zod-openapi";
import { Failure } from "#worker/lib/errors.ts";
import { parseJson } from "#worker/lib/json.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { callOut, type OutsideAnswer } from "#worker/lib/network/outbound.ts";

/** A search in the games database. */
export interface GameQuery {
  gameName: string;
  offset: number;
  limit: number;
}

const Games = z.object({ games: z.array(z.object({ id: z.number().int(), name: z.string() })), total: z.number().int() });
export type Games = z.infer<typeof Games>;

const Token = z.object({ access_token: z.string(), expires_in: z.number() });
/** Seconds for which a response is cached: names of games hardly change. */
const CACHE_SECONDS = 86_400;
/** How long before its expiry a token is renewed, in milliseconds. */
const EARLY_MS = 60_000;

interface Credentials {
  clientId: string;
  clientSecret: string;
}

// One per client id. A token lasts for weeks, and each isolate may have its own.
const tokens = new Map<string, { token: string; expires: number }>();

/** Searches IGDB by name; results are cached for a day per data centre. Throws `games_not_configured` and `unavailable`. */
export async function findGames(env: Env, query: GameQuery, now: number): Promise<Games> {
  const clientId = optionalSecret(env, "TIFO_IGDB_CLIENT_ID");
  const clientSecret = optionalSecret(env, "TIFO_IGDB_CLIENT_SECRET");
  if (clientId === undefined || clientSecret === undefined)
    throw new Failure("games_not_configured", "This deployment has no credentials for the games database (IGDB)");
  const key = cacheKey(query);
  const cached = await caches.default.match(key);
  if (cached) return Games.parse(await cached.json());
  const games = await searchIgdb(env, { clientId, clientSecret }, query, now);
  await caches.default.put(key, Response.json(games, { headers: { "Cache-Control": `max-age=${CACHE_SECONDS}` } }));
  return games;
}

/** Retries once with a new token after a 401, because a token may be revoked early. */
async function searchIgdb(env: Env, credentials: Credentials, query: GameQuery, now: number): Promise<Games> {
  let response = await postQuery(env, credentials, query, await tokenOf(env, credentials, now));
  if (response.status === 401) {
    tokens.delete(credentials.clientId);
    response = await postQuery(env, credentials, query, await tokenOf(env, credentials, now));
  }
  const games = response.status === 200 ? Games.shape.games.safeParse(parseJson(response.text)).data : undefined;
  if (!games) throw new Failure("unavailable", `The games database returned ${response.status}`);
  return { games, total: Number(response.headers.get("X-Count") ?? query.offset + games.length) };
}

function postQuery(env: Env, { clientId }: Credentials, { gameName, offset, limit }: GameQuery, token: string): Promise<OutsideAnswer> {
  // The query language documents no escape sequences.
  const name = gameName.replace(/["\\\p{Cc}]/gu, " ");
  return callOut(env, `${env.TIFO_IGDB_URL}/games`, {
    method: "POST",
    headers: { "Client-ID": clientId, Authorization: `Bearer ${token}` },
    body: `search "${name}"; fields name; limit ${limit}; offset ${offset};`,
  });
}

async function tokenOf(env: Env, { clientId, clientSecret }: Credentials, now: number): Promise<string> {
  const known = tokens.get(clientId);
  if (known && known.expires > now) return known.token;
  const form = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, grant_type: "client_credentials" });
  const { status, text } = await callOut(env, env.TIFO_TWITCH_TOKEN_URL, { method: "POST", body: form });
  const issued = status === 200 ? Token.safeParse(parseJson(text)).data : undefined;
  if (!issued) throw new Failure("unavailable", `The games database issued no token: ${status}`);
  tokens.set(clientId, { token: issued.access_token, expires: now + issued.expires_in * 1000 - EARLY_MS });
  return issued.access_token;
}

function cacheKey({ gameName, offset, limit }: GameQuery): string {
  const url = new URL("https://games.cache.tifo.internal/");
  url.search = new URLSearchParams({ gameName: gameName.toLowerCase(), offset: String(offset), limit: String(limit) }).toString();
  return url.href;
}
