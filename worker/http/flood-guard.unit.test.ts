import { Hono } from "hono";
import { describe, expect, test, vi } from "vitest";
import type { AppEnv } from "./app-env.ts";
import { createFloodGuard } from "./flood-guard.ts";
import { toFailure } from "./errors.ts";

/** An app behind a flood guard whose binding rejects after `limit` counted requests. */
function setUp(limit: number, random: () => number) {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  const counted: string[] = [];
  const FLOOD_GUARD: RateLimit = {
    limit: ({ key }) => {
      counted.push(key);
      return Promise.resolve({ success: counted.filter((each) => each === key).length <= limit });
    },
  };
  const app = new Hono<AppEnv>();
  app.use(createFloodGuard(random));
  app.onError((error) => {
    const { code, headers } = toFailure(error);
    return new Response(code, { status: 429, headers });
  });
  app.get("/", (c) => c.text("in"));
  const send = (address: string) => app.request("/", { headers: { "CF-Connecting-IP": address } }, { FLOOD_GUARD });
  return { send, counted };
}

describe("the flood guard", () => {
  test("counts one request in ten", async () => {
    let turn = 0;
    const { send, counted } = setUp(1000, () => (turn++ % 10) / 10);
    for (let request = 0; request < 50; request++) expect((await send("192.0.2.1")).status).toBe(200);
    expect(counted).toHaveLength(5);
  });

  test("rejects every request from a flooding address and from no other", async () => {
    const { send, counted } = setUp(2, () => 0);
    for (let request = 0; request < 2; request++) await send("192.0.2.1");
    const rejected = await send("192.0.2.1");
    expect([rejected.status, rejected.headers.get("Retry-After"), await rejected.text()]).toEqual([429, "10", "rate_limited"]);
    const before = counted.length;
    expect((await send("192.0.2.1")).status).toBe(429);
    expect(counted).toHaveLength(before);
    expect((await send("192.0.2.2")).status).toBe(200);
  });

  test("counts the address again after the pause", async () => {
    const { send, counted } = setUp(1, () => 0);
    await send("192.0.2.1");
    await send("192.0.2.1");
    counted.length = 0;
    vi.setSystemTime(1_000_000 + 9_999);
    expect((await send("192.0.2.1")).status).toBe(429);
    vi.setSystemTime(1_000_000 + 10_000);
    expect((await send("192.0.2.1")).status).toBe(200);
    expect(counted).toHaveLength(1);
  });
});
