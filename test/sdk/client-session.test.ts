import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient, memoryTokens, ok, type TifoProblem } from "#sdk/client/index.ts";
import { json, jwt, listPages, never, problem, type Responder, setUp } from "./client-server.ts";

afterEach(() => void vi.useRealTimers());

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
