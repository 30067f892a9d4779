import { Hono } from "hono";
import { describe, expect, test, vi } from "vitest";
import type { AppEnv } from "./app-env.ts";
import { createFloodGuard } from "./flood-guard.ts";
import { toFailure } from "./errors.ts";

/** An app behind a brake whose binding refuses after `limit` counted requests. */
function setUp(limit: number, random: () => number) {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  const counted: string[] = [];
  const BRAKE: RateLimit = {
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
  const ask = (address: string) => app.request("/", { headers: { "CF-Connecting-IP": address } }, { BRAKE });
  return { ask, counted };
}

describe("the brake", () => {
  test("counts one request in ten", async () => {
    let turn = 0;
    const { ask, counted } = setUp(1000, () => (turn++ % 10) / 10);
    for (let request = 0; request < 50; request++) expect((await ask("192.0.2.1")).status).toBe(200);
    expect(counted).toHaveLength(5);
  });

  test("pauses an address that floods, every request of it, and no other", async () => {
    const { ask, counted } = setUp(2, () => 0);
    for (let request = 0; request < 2; request++) await ask("192.0.2.1");
    const refused = await ask("192.0.2.1");
    expect([refused.status, refused.headers.get("Retry-After"), await refused.text()]).toEqual([429, "10", "rate_limited"]);
    const before = counted.length;
    expect((await ask("192.0.2.1")).status).toBe(429);
    expect(counted).toHaveLength(before);
    expect((await ask("192.0.2.2")).status).toBe(200);
  });

  test("asks again when the pause is over", async () => {
    const { ask, counted } = setUp(1, () => 0);
    await ask("192.0.2.1");
    await ask("192.0.2.1");
    counted.length = 0;
    vi.setSystemTime(1_000_000 + 9_999);
    expect((await ask("192.0.2.1")).status).toBe(429);
    vi.setSystemTime(1_000_000 + 10_000);
    expect((await ask("192.0.2.1")).status).toBe(200);
    expect(counted).toHaveLength(1);
  });
});
