import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient, done, memoryTokens, ok, type TifoProblem, type Tokens } from "#sdk/client/index.ts";

type Responder = (request: Request) => Response | Promise<Response>;

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) => Response.json(body, { status, headers });

/** A token that expires at `exp`, in seconds since 1970. */
function jwt(name: string, exp = Date.now() / 1000 + 600): string {
  return `h.${btoa(JSON.stringify({ exp, name }))}.s`;
}

interface SetUp {
  tokens?: Tokens;
  developerKey?: string;
  attempts?: number;
  timeout?: number;
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

function setUp(respond: Responder, options: SetUp = {}) {
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
      return respond(request);
    },
    retry: {
      attempts: options.attempts ?? 4,
      random: () => 0.5,
      sleep: options.sleep ?? (async (milliseconds) => void waits.push(milliseconds)),
      ...(options.timeout !== undefined && { timeout: options.timeout }),
    },
  });
  return { client, requests, waits, tokens };
}

afterEach(() => void vi.useRealTimers());

const listPages = (client: ReturnType<typeof createClient>) => client.api.GET("/page/v2/channel", {});

/** A response that never arrives: the request ends when it is aborted. */
function never({ signal }: Request): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new DOMException("Aborted", "AbortError"))));
}

/** A response whose body begins, and ends after some milliseconds or never; it fails when the request is aborted. */
function bodyOf({ signal }: Request, type: string, endsAfter?: number): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("["));
      const timer = endsAfter === undefined ? undefined : setTimeout(() => controller.close(), endsAfter);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        controller.error(new DOMException("Aborted", "AbortError"));
      });
    },
  });
  return new Response(body, { headers: { "Content-Type": type } });
}

const stalled = (request: Request) => bodyOf(request, "application/json");

/** A response whose connection is lost in the middle of the body. */
function cutOff(): Response {
  const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}

const logout = (client: ReturnType<typeof createClient>) => client.api.POST("/auth/v2/logout", {});

async function problem(call: Promise<unknown>): Promise<TifoProblem> {
  return call.then(
    () => Promise.reject(new Error("It succeeded")),
    (error: TifoProblem) => error,
  );
}

describe("the REST client", () => {
  test("sends the client id with every request, and a server's developer key", async () => {
    const { client, requests } = setUp(() => json([]), { developerKey: "tifo_dev_demo" });
    await ok(listPages(client));
    expect(requests[0]?.headers.get("Tifo-Client-Id")).toBe("5eed00000000000000000001");
    expect(requests[0]?.headers.get("Tifo-Developer-Key")).toBe("tifo_dev_demo");
    expect(requests[0]?.headers.get("Authorization")).toBeNull();
  });

  test("throws the server's error", async () => {
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

  test("reports an unreachable server, and responses that aren't problem documents", async () => {
    const unreachable = setUp(() => Promise.reject(new TypeError("fetch failed")), { attempts: 1 });
    expect(await problem(ok(listPages(unreachable.client)))).toMatchObject({ status: 0, code: "network" });
    const proxy = setUp(() => new Response("<h1>Bad gateway</h1>", { status: 502 }), { attempts: 1 });
    expect(await problem(ok(listPages(proxy.client)))).toMatchObject({ status: 502, code: "http_502" });
  });

  test("waits for Retry-After or, without it, with jitter", async () => {
    const responses = [json({}, 429, { "Retry-After": "3" }), json({}, 503), json([])];
    const { client, waits } = setUp(() => responses.shift() ?? json([]));
    expect(await ok(listPages(client))).toEqual([]);
    expect(waits).toEqual([3_000, 500]);
  });

  test("returns the response if Retry-After is longer than half a minute", async () => {
    const { client, requests, waits } = setUp(() => json({ code: "rate_limited", message: "Tomorrow" }, 429, { "Retry-After": "86400" }));
    expect(await problem(ok(listPages(client)))).toMatchObject({ status: 429, message: "Tomorrow" });
    expect({ requests: requests.length, waits }).toEqual({ requests: 1, waits: [] });
  });

  test("aborts an attempt that hangs, and retries", async () => {
    let attempts = 0;
    const { client, requests } = setUp((request) => (++attempts === 1 ? never(request) : json([])), { timeout: 5 });
    expect(await ok(listPages(client))).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  test("aborts an attempt whose body never ends or breaks off, and retries", async () => {
    const bodies = [stalled, cutOff];
    const { client, requests } = setUp((request) => bodies.shift()?.(request) ?? json([]), { timeout: 5 });
    expect(await ok(listPages(client))).toEqual([]);
    expect(requests).toHaveLength(3);
  });

  test("doesn't limit how long the body of a download takes", async () => {
    const { client } = setUp((request) => bodyOf(request, "text/csv", 30), { timeout: 5 });
    const { response } = await client.api.GET("/page/v2/channel", { parseAs: "stream" });
    expect(await response.text()).toBe("[");
  });

  test("stops immediately when it is aborted, during an attempt or in the pause after it", async () => {
    const duringAttempt = new AbortController();
    const hanging = setUp((request) => {
      queueMicrotask(() => duringAttempt.abort());
      return never(request);
    });
    expect(await problem(ok(hanging.client.api.GET("/page/v2/channel", { signal: duringAttempt.signal })))).toMatchObject({
      code: "network",
    });
    expect(hanging.requests).toHaveLength(1);

    const duringPause = new AbortController();
    const client = createClient({
      origin: "https://tifo.example",
      clientId: "5eed00000000000000000001",
      fetch: async (request) => {
        if (request.signal.aborted) throw new DOMException("Aborted", "AbortError");
        setTimeout(() => duringPause.abort(), 0);
        return json({}, 503, { "Retry-After": "29" });
      },
    });
    expect(await problem(ok(client.api.GET("/page/v2/channel", { signal: duringPause.signal })))).toMatchObject({ code: "network" });
  });

  test("doesn't retry what the operator hasn't set up, and keeps the error's body", async () => {
    const body = { code: "billing_not_configured", message: "This deployment has no Stripe keys" };
    const headers = { "Content-Type": "application/problem+json" };
    const { client, requests } = setUp(() => json(body, 503, headers));
    const { status, code, message } = await problem(ok(listPages(client)));
    expect({ status, code, message }).toEqual({ status: 503, ...body });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["another code", () => json({ code: "unavailable" }, 503)],
    ["no JSON", () => new Response("<h1>billing_not_configured</h1>", { status: 503, headers: { "Content-Type": "text/html" } })],
    ["broken JSON", () => new Response("{", { status: 503, headers: { "Content-Type": "application/json" } })],
  ])("retries a 503 with %s", async (_, respond) => {
    const { client, requests } = setUp(respond);
    await problem(ok(listPages(client)));
    expect(requests).toHaveLength(4);
  });

  test("doesn't retry a request that the server rejected", async () => {
    const { client, requests } = setUp(() => json({ code: "not_found" }, 404));
    await problem(ok(listPages(client)));
    expect(requests).toHaveLength(1);
  });

  test("sends the same Idempotency-Key with all attempts of a write", async () => {
    let attempts = 0;
    const { client, requests } = setUp(() =>
      ++attempts < 3 ? Promise.reject(new TypeError("reset")) : new Response(null, { status: 204 }),
    );
    await done(logout(client));
    const keys = requests.map((request) => request.headers.get("Idempotency-Key"));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("gives up after the configured attempts", async () => {
    const { client, requests } = setUp(() => json({ code: "unavailable", message: "Later" }, 503));
    expect(await problem(ok(listPages(client)))).toMatchObject({ code: "unavailable" });
    expect(requests).toHaveLength(4);
  });
});

describe("a session", () => {
  const refreshed: Responder = async (request) => {
    if (request.url.endsWith("/auth/v2/refresh")) return json({ jwt: jwt("second"), refreshToken: "r2" });
    return request.headers.get("Authorization") === `Bearer ${jwt("first")}` ? json({ code: "unauthenticated" }, 401) : json([]);
  };

  test("starts by signing in", async () => {
    const { client, requests, tokens } = setUp(() => json({ jwt: jwt("first"), refreshToken: "r1" }));
    await client.signIn("viewer@demo.example", "demo-viewer-pass");
    expect(await requests[0]?.json()).toEqual({
      email: "viewer@demo.example",
      password: "demo-viewer-pass",
      siteId: "5eed00000000000000000001",
    });
    expect(await client.token()).toBe(tokens.get()?.jwt);
  });

  test("fails with its own code until the email is verified, which takes a requested email and its token", async () => {
    const { client, requests, tokens } = setUp((request) =>
      request.url.endsWith("/login") ? json({ code: "email_not_verified", message: "Verify" }, 403) : json({ success: true }),
    );
    const failed = { status: 403, code: "email_not_verified" } satisfies Partial<TifoProblem>;
    await expect(client.signIn("viewer@demo.example", "demo-viewer-pass")).rejects.toMatchObject(failed);
    expect(tokens.get()).toBeNull();
    await client.requestVerification({ email: "viewer@demo.example", baseUrl: "https://demo.example/verify" });
    await client.verifyEmail("a-token", { password: "demo-viewer-pass" });
    expect(requests.slice(1).map(({ url }) => new URL(url).pathname)).toEqual([
      "/account/v3/verify-email/request",
      "/account/v3/verify-email",
    ]);
    expect(await requests[1]?.json()).toEqual({ email: "viewer@demo.example", baseUrl: "https://demo.example/verify" });
    expect(await requests[2]?.json()).toEqual({ token: "a-token", password: "demo-viewer-pass" });
  });

  test("is renewed once for many requests that find it expired", async () => {
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

  test("is renewed before a token that expires soon is sent", async () => {
    const { client, requests } = setUp(refreshed, { tokens: { jwt: jwt("ended", Date.now() / 1000 + 5), refreshToken: "r1" } });
    await ok(listPages(client));
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(["/auth/v2/refresh", "/page/v2/channel"]);
  });

  test("ends if the server rejects its renewal, and continues if the server is only unreachable", async () => {
    const ended = { tokens: { jwt: jwt("ended", 1), refreshToken: "r1" } };
    const rejected = setUp((request) => (request.url.includes("refresh") ? json({ code: "unauthenticated" }, 401) : json([])), ended);
    await ok(listPages(rejected.client));
    expect(rejected.tokens.get()).toBeNull();
    const down = setUp(() => json({ code: "unavailable" }, 503), ended);
    await problem(ok(listPages(down.client)));
    expect(down.tokens.get()).not.toBeNull();
  });

  test("ends locally even if the server no longer knows it", async () => {
    const { client, tokens } = setUp(() => json({ code: "unauthenticated" }, 401), { tokens: { jwt: jwt("first"), refreshToken: "r1" } });
    await client.signOut();
    expect(tokens.get()).toBeNull();
  });

  test("starts even if the first response was lost, with a new Idempotency-Key", async () => {
    const lost = { code: "idempotency_unanswered", message: "The response was lost" };
    let attempts = 0;
    const { client, requests, tokens } = setUp(() => {
      if (++attempts === 1) throw new TypeError("reset");
      return attempts === 2 ? json(lost, 409) : json({ jwt: jwt("first"), refreshToken: "r1" });
    });
    await client.signIn("viewer@demo.example", "demo-viewer-pass");
    const [first, second, third] = requests.map((request) => request.headers.get("Idempotency-Key"));
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(tokens.get()?.refreshToken).toBe("r1");
  });

  test("is renewed with one key until a response arrives, and with a new key the next time", async () => {
    const responses = [json({}, 503), json({}, 503), json({ jwt: jwt("ended too", 1), refreshToken: "r2" })];
    const { client, requests } = setUp((request) => (request.url.includes("refresh") ? (responses.shift() ?? json({}, 503)) : json([])), {
      tokens: { jwt: jwt("ended", 1), refreshToken: "r1" },
      attempts: 1,
    });
    const call = () => listPages(client).catch(() => undefined);
    await call();
    await call();
    await call();
    await call();
    const renewals = requests.filter(({ url }) => url.includes("refresh"));
    const keys = renewals.map((request) => request.headers.get("Idempotency-Key"));
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test("is renewed by a second attempt if the first hangs, soon enough to get the same response", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let attempts = 0;
    const pair = { jwt: jwt("second"), refreshToken: "r2" };
    const { client, requests, tokens } = setUp(
      (request) => (!request.url.includes("refresh") ? json([]) : ++attempts === 1 ? never(request) : json(pair)),
      { tokens: { jwt: jwt("ended", 1), refreshToken: "r1" } },
    );
    const call = ok(listPages(client));
    while (requests.length === 0) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(10_000);
    await call;
    expect(tokens.get()).toEqual(pair);
    const [first, second] = requests.map((request) => request.headers.get("Idempotency-Key"));
    expect(second).toBe(first);
  });

  test("ends if the next pair was issued but lost", async () => {
    const { client, tokens } = setUp(
      (request) => (request.url.includes("refresh") ? json({ code: "idempotency_unanswered" }, 409) : json([])),
      { tokens: { jwt: jwt("ended", 1), refreshToken: "r1" } },
    );
    await ok(listPages(client));
    expect(tokens.get()).toBeNull();
  });

  test.each([
    ["a pair", () => json({ jwt: jwt("second"), refreshToken: "r2" })],
    ["a rejection", () => json({ code: "unauthenticated" }, 401)],
  ])("that started while another was being renewed isn't replaced by %s", async (_, respond) => {
    const other = { jwt: jwt("somebody else"), refreshToken: "other" };
    const { client, requests, tokens } = setUp(
      (request) => {
        if (!request.url.includes("refresh")) return json([]);
        tokens.set(other);
        return respond();
      },
      { tokens: { jwt: jwt("ended", 1), refreshToken: "r1" } },
    );
    await ok(listPages(client));
    expect(tokens.get()).toEqual(other);
    expect(requests.at(-1)?.headers.get("Authorization")).toBe(`Bearer ${other.jwt}`);
  });

  test("that ended while it was being renewed stays ended", async () => {
    const { client, requests, tokens } = setUp(
      (request) => {
        if (!request.url.includes("refresh")) return json([]);
        tokens.set(null);
        return json({ jwt: jwt("second"), refreshToken: "r2" });
      },
      { tokens: { jwt: jwt("ended", 1), refreshToken: "r1" } },
    );
    await ok(listPages(client));
    expect(tokens.get()).toBeNull();
    expect(requests.at(-1)?.headers.get("Authorization")).toBeNull();
  });

  test("is renewed once across tabs that share it", async () => {
    const shared = memoryTokens();
    shared.set({ jwt: jwt("ended", 1), refreshToken: "r1" });
    const renewals: string[] = [];
    const tab = () =>
      createClient({
        origin: "https://tifo.example",
        clientId: "5eed00000000000000000001",
        tokens: shared,
        fetch: async (request) => {
          if (!request.url.includes("refresh")) return json([]);
          renewals.push(await request.text());
          return json({ jwt: jwt("second"), refreshToken: "r2" });
        },
      });
    await Promise.all([tab(), tab(), tab()].map((client) => ok(listPages(client))));
    expect(renewals).toEqual(['{"refreshToken":"r1"}']);
  });
});

describe("the bookmark of read replicas", () => {
  const A = "1:00000001-00000000-00004c6d-aa";
  const B = "1:00000002-00000000-00004c6d-aa";

  /** The bookmark that each request sends, if the responses have these. */
  async function sentAfter(received: (string | null)[]): Promise<(string | null)[]> {
    const left = [...received];
    const { client, requests } = setUp(() => {
      const bookmark = left.shift() ?? null;
      return json({ results: [] }, 200, bookmark === null ? {} : { "Tifo-Bookmark": bookmark });
    });
    for (let call = 0; call < received.length; call++) await listPages(client);
    return requests.map(({ headers }) => headers.get("Tifo-Bookmark"));
  }

  test("a read sends the newest one that the client has received", async () => {
    expect(await sentAfter([A, B, A, null, A])).toEqual([null, A, B, B, B]);
  });

  test("one of another database replaces it, because the site has moved", async () => {
    expect(await sentAfter([B, "2:00000001-00000000-00004c6d-aa", null])).toEqual([null, B, "2:00000001-00000000-00004c6d-aa"]);
  });

  test("isn't sent unless a response had one, and not with a write", async () => {
    expect(await sentAfter([null, null])).toEqual([null, null]);
    const { client, requests } = setUp(() => json({ results: [] }, 200, { "Tifo-Bookmark": A }));
    await listPages(client);
    await logout(client);
    expect(requests[1]?.headers.has("Tifo-Bookmark")).toBe(false);
  });
});
