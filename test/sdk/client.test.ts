import { describe, expect, test } from "vitest";
import { createClient, done, ok } from "#sdk/client/index.ts";
import { json, listPages, logout, never, problem, setUp } from "./client-server.ts";

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
