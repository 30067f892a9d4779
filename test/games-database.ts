import { env } from "cloudflare:workers";

// A stand-in for the games database (IGDB), at the URLs that the Worker calls. It records queries and fails if a test asks for it.

const GRANT = JSON.stringify(["igdb-client", "igdb-secret", "client_credentials"]);
const realFetch = globalThis.fetch;

export const gamesDatabase = {
  tokens: 0,
  queries: new Array<string>(),
  /** Error statuses of the next queries. */
  errors: new Array<number>(),
  tokenStatus: 200,
};

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    if (url === env.TIFO_TWITCH_TOKEN_URL) return issueToken(new Request(url, init));
    return url === `${env.TIFO_IGDB_URL}/games` ? search(new Request(url, init)) : realFetch(input, init);
  },
});

async function issueToken(request: Request): Promise<Response> {
  const form = await request.formData();
  const grant = JSON.stringify([form.get("client_id"), form.get("client_secret"), form.get("grant_type")]);
  if (gamesDatabase.tokenStatus !== 200) return new Response("no", { status: gamesDatabase.tokenStatus });
  if (request.method !== "POST" || grant !== GRANT) return new Response("no", { status: 403 });
  gamesDatabase.tokens += 1;
  return Response.json({ access_token: `token-${gamesDatabase.tokens}`, expires_in: 5_000_000, token_type: "bearer" });
}

async function search(request: Request): Promise<Response> {
  const query = await request.text();
  const token = request.headers.get("Authorization");
  if (request.headers.get("Client-ID") !== "igdb-client" || token !== `Bearer token-${gamesDatabase.tokens}`)
    return new Response("[]", { status: 401 });
  gamesDatabase.queries.push(query);
  const error = gamesDatabase.errors.shift();
  if (error !== undefined) return new Response("no", { status: error });
  return Response.json([{ id: 17, name: "Pocket Football" }], { headers: { "X-Count": "1" } });
}
