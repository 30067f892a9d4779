import { describe, expect, test } from "vitest";
import { createClient, done, ok, type TifoProblem, type Tokens, memoryTokens } from "../../sdk/client/index.ts";

type Answer = (request: Request) => Response | Promise<Response>;

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) => Response.json(body, { status, headers });

/** A token that ends at `exp`, in seconds since 1970. */
function jwt(name: string, exp = Date.now() / 1000 + 600): string {
  return `h.${btoa(JSON.stringify({ exp, name }))}.s`;
}

function setUp(answer: Answer, options: { tokens?: Tokens; developerKey?: string; attempts?: number } = {}) {
  const requests: Request[] = [];
  const waits: number[] = [];
  const tokens = memoryTokens();
  tokens.set(options.tokens ?? null);
  const client = createClient({
    origin: "https://tifo.example",
    clientId: "5eed00000000000000000001",
    developerKey: options.developerKey,
    tokens,
    fetch: async (request) => {
      requests.push(request.clone());
      return answer(request);
    },
    retry: { attempts: options.attempts ?? 4, random: () => 0.5, sleep: async (milliseconds) => void waits.push(milliseconds) },
  });
  return { client, requests, waits, tokens };
}

const listPages = (client: ReturnType<typeof createClient>) => client.api.GET("/page/v2/channel", {});
const logout = (client: ReturnType<typeof createClient>) => client.api.POST("/auth/v2/logout", {});

async function problem(call: Promise<unknown>): Promise<TifoProblem> {
  return call.then(
    () => Promise.reject(new Error("It succeeded")),
    (error: TifoProblem) => error,
  );
}

describe("the REST client", () => {
  test("names the site on every request, and a server by its key", async () => {
    const { client, requests } = setUp(() => json([]), { developerKey: "tifo_dev_demo" });
    await ok(listPages(client));
    expect(requests[0]?.headers.get("Tifo-Client-Id")).toBe("5eed00000000000000000001");
    expect(requests[0]?.headers.get("Tifo-Developer-Key")).toBe("tifo_dev_demo");
    expect(requests[0]?.headers.get("Authorization")).toBeNull();
  });

  test("throws what the server says is wrong", async () => {
    const body = {
      code: "invalid_request",
      message: "The body is not valid",
      issues: [{ path: "name", message: "Required" }],
      status: 400,
    };
    const { client } = setUp(() => json(body, 400, { "Tifo-Request-Id": "r-1" }));
    expect(await problem(ok(listPages(client)))).toMatchObject({
      name: "TifoProblem",
      status: 400,
      code: "invalid_request",
      message: "The body is not valid",
      issues: [{ path: "name", message: "Required" }],
      requestId: "r-1",
    });
  });

  test("says so where the server is out of reach, or answers what is no problem of ours", async () => {
    const unreachable = setUp(() => Promise.reject(new TypeError("fetch failed")), { attempts: 1 });
    expect(await problem(ok(listPages(unreachable.client)))).toMatchObject({ status: 0, code: "network" });
    const proxy = setUp(() => new Response("<h1>Bad gateway</h1>", { status: 502 }), { attempts: 1 });
    expect(await problem(ok(listPages(proxy.client)))).toMatchObject({ status: 502, code: "http_502" });
  });

  test("waits as long as it is asked to, and as jitter says where it isn't", async () => {
    const answers = [json({}, 429, { "Retry-After": "3" }), json({}, 503), json([])];
    const { client, waits } = setUp(() => answers.shift() ?? json([]));
    expect(await ok(listPages(client))).toEqual([]);
    expect(waits).toEqual([3_000, 500]);
  });

  test("repeats no request that the server has judged", async () => {
    const { client, requests } = setUp(() => json({ code: "not_found" }, 404));
    await problem(ok(listPages(client)));
    expect(requests).toHaveLength(1);
  });

  test("gives every write one Idempotency-Key for all its tries", async () => {
    let tries = 0;
    const { client, requests } = setUp(() => (++tries < 3 ? Promise.reject(new TypeError("reset")) : new Response(null, { status: 204 })));
    await done(logout(client));
    const keys = requests.map((request) => request.headers.get("Idempotency-Key"));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("gives up after its tries", async () => {
    const { client, requests } = setUp(() => json({ code: "unavailable", message: "Later" }, 503));
    expect(await problem(ok(listPages(client)))).toMatchObject({ code: "unavailable" });
    expect(requests).toHaveLength(4);
  });
});

describe("a session", () => {
  const refreshed: Answer = async (request) => {
    if (request.url.endsWith("/auth/v2/refresh")) return json({ jwt: jwt("second"), refreshToken: "r2" });
    return request.headers.get("Authorization") === `Bearer ${jwt("first")}` ? json({ code: "unauthenticated" }, 401) : json([]);
  };

  test("begins with signing in", async () => {
    const { client, requests, tokens } = setUp(() => json({ jwt: jwt("first"), refreshToken: "r1" }));
    await client.signIn("viewer@demo.example", "demo-viewer-pass");
    expect(await requests[0]?.json()).toEqual({
      email: "viewer@demo.example",
      password: "demo-viewer-pass",
      siteId: "5eed00000000000000000001",
    });
    expect(await client.token()).toBe(tokens.get()?.jwt);
  });

  test("is renewed once for many requests that find it ended", async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const old = jwt("first", exp);
    const { client, requests, tokens } = setUp(
      async (request) => {
        if (request.url.endsWith("/auth/v2/refresh")) return json({ jwt: jwt("second", exp), refreshToken: "r2" });
        return request.headers.get("Authorization") === `Bearer ${old}` ? json({ code: "unauthenticated" }, 401) : json([]);
      },
      { tokens: { jwt: old, refreshToken: "r1" } },
    );
    await Promise.all(Array.from({ length: 5 }, () => ok(listPages(client))));
    expect(requests.filter(({ url }) => url.endsWith("/auth/v2/refresh"))).toHaveLength(1);
    expect(tokens.get()).toEqual({ jwt: jwt("second", exp), refreshToken: "r2" });
  });

  test("is renewed before a token that ends soon is sent", async () => {
    const { client, requests } = setUp(refreshed, { tokens: { jwt: jwt("ended", Date.now() / 1000 + 5), refreshToken: "r1" } });
    await ok(listPages(client));
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(["/auth/v2/refresh", "/page/v2/channel"]);
  });

  test("is over when the server refuses to renew it, and goes on when it is only out of reach", async () => {
    const ended = { tokens: { jwt: jwt("ended", 1), refreshToken: "r1" } };
    const refused = setUp((request) => (request.url.includes("refresh") ? json({ code: "unauthenticated" }, 401) : json([])), ended);
    await ok(listPages(refused.client));
    expect(refused.tokens.get()).toBeNull();
    const down = setUp(() => json({ code: "unavailable" }, 503), ended);
    await problem(ok(listPages(down.client)));
    expect(down.tokens.get()).not.toBeNull();
  });

  test("ends here too where the server knows it no more", async () => {
    const { client, tokens } = setUp(() => json({ code: "unauthenticated" }, 401), { tokens: { jwt: jwt("first"), refreshToken: "r1" } });
    await client.signOut();
    expect(tokens.get()).toBeNull();
  });
});
