import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { publishAddresses, queryCount } from "#test/dns-resolver.ts";
import { watchFetch } from "#test/watch-fetch.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { callPublic, publicUrlProblem } from "./public-host.ts";

const deployed = { ...env, TIFO_DEVELOPMENT: "false" };
const PUBLIC = ["93.184.215.14"];

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => vi.useRealTimers());

test.each([
  [0, 1],
  [60, 60],
  [86_400, 300],
])("a lookup with a TTL of %i s is cached for %i s", async (ttl, kept) => {
  const host = `hooks-${randomHex(6)}.example`;
  const check = () => publicUrlProblem(deployed, `https://${host}/`);
  publishAddresses(host, PUBLIC, ttl);
  expect(await check()).toBeUndefined();
  vi.advanceTimersByTime(kept * 1000 - 1);
  publishAddresses(host, ["10.0.0.8"], ttl);
  expect(await check()).toBeUndefined();
  expect(queryCount(host)).toBe(2);
  vi.advanceTimersByTime(1);
  expect(await check()).toBe("A host that is reachable from the internet");
  expect(queryCount(host)).toBe(4);
});

test("a host that may not be called is looked up each time", async () => {
  const host = `hooks-${randomHex(6)}.example`;
  publishAddresses(host, ["10.0.0.8"]);
  expect(await publicUrlProblem(deployed, `https://${host}/`)).toBeDefined();
  publishAddresses(host, PUBLIC);
  expect(await publicUrlProblem(deployed, `https://${host}/`)).toBeUndefined();
});

test.each(["https://never-looked-up.example/crm", "https://nowhere.invalid/"])("%s is not looked up in development", async (url) => {
  const fetched = watchFetch();
  const local = { ...env, TIFO_DEVELOPMENT: "true" };
  expect(await publicUrlProblem(local, url)).toBeUndefined();
  await expect(callPublic(local, url)).rejects.toThrow("has no address");
  fetched.restore();
  expect([fetched.urls, queryCount(new URL(url).hostname)]).toEqual([[], 0]);
});
