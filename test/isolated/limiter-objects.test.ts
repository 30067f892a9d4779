import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import nodeCrypto from "node:crypto";
import { beforeEach, expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import { Limiter } from "#worker/durable-objects/limiter.ts";
import { newId } from "#worker/lib/ids.ts";
import { LIMIT_NAMES, LIMITS, limiterName } from "#worker/lib/limits.ts";
import { LimitList } from "#worker/services/insights/schemas.ts";
import { rejectionCache } from "#worker/services/core/limits.ts";
import { createOverlay } from "../site-log.ts";
import { newSite, PASSWORD, type TestSite } from "../harness.ts";

const ATTACKER = "203.0.113.9";
const ADDRESSES = Array.from({ length: 60 }, (_, index) => `198.51.100.${index}`);
let takes: MockInstance<Limiter["takeAll"]>;

beforeEach(() => {
  rejectionCache.clear();
  takes = vi.spyOn(Limiter.prototype, "takeAll");
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
});

async function guess(site: TestSite, email: string, address = ATTACKER) {
  return site.call("login", {
    as: "nobody",
    body: { email, password: "guess", siteId: site.id },
    headers: { "CF-Connecting-IP": address },
  });
}

/** The limits that an object counts. */
function countedBy(name: string): Promise<string[]> {
  return runInDurableObject(env.LIMITER.getByName(name), (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT DISTINCT name FROM windows ORDER BY name")
      .toArray()
      .map((row) => row.name),
  );
}

/** A site with an overlay to broadcast. */
async function newBroadcaster(): Promise<{ site: TestSite; broadcast: () => Promise<number> }> {
  const site = await newSite();
  const id = await createOverlay(site);
  const broadcast = async () => (await site.call("broadcastOverlay", { params: { id }, body: { channelId: site.channels[0] } })).status;
  return { site, broadcast };
}

test("a flood of failed sign-ins from one address costs one call per attempt and one for the rejection", async () => {
  const site = await newSite();
  const { email } = site.accounts.viewer;
  const statuses: number[] = [];
  for (let i = 0; i < 200; i++) statuses.push((await guess(site, email)).status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(LIMITS.signIn.quota);
  expect(statuses.filter((status) => status === 429)).toHaveLength(200 - LIMITS.signIn.quota);
  const first = takes.mock.calls.length;
  // Each attempt counts for its address and for its account, the first rejection for neither.
  expect(first).toBe(2 * LIMITS.signIn.quota + 1);
  // After a few seconds nothing can be given back any more, so the next rejection is cached until the window ends.
  vi.setSystemTime(Date.now() + 10_000);
  for (let i = 0; i < 200; i++) expect((await guess(site, email)).status).toBe(429);
  expect(takes.mock.calls.length - first).toBe(1);
});

test("a cached rejection reports how long it lasts, and ends with its window", async () => {
  const site = await newSite();
  const { email } = site.accounts.viewer;
  for (let i = 0; i < LIMITS.signIn.quota; i++) await guess(site, email);
  vi.setSystemTime(Date.now() + 10_000);
  await guess(site, email);
  vi.setSystemTime(Date.now() + 20_000);
  takes.mockClear();
  const rejected = await guess(site, email);
  expect(takes).not.toHaveBeenCalled();
  expect(rejected.headers.get("Retry-After")).toBe("30");
  expect(rejected.headers.get("RateLimit")).toBe('"signIn";r=0;t=30');
  vi.setSystemTime(Date.now() + 31_000);
  expect((await guess(site, email)).status).toBe(401);
});

test("giving back ends a cached rejection", async () => {
  const site = await newSite();
  const { viewer } = site.accounts;
  const signIn = async () => {
    const body = { email: viewer.email, password: PASSWORD, siteId: site.id };
    return (await site.call("login", { as: "nobody", body, headers: { "CF-Connecting-IP": ATTACKER } })).status;
  };
  // Of twenty concurrent sign-ins, those beyond the first five are rejected until the first ones have succeeded.
  const statuses = await Promise.all(Array.from({ length: 20 }, signIn));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(LIMITS.signIn.quota);
  expect(await signIn()).toBe(200);
});

test("broadcasts are counted by an object that sign-ins, tickets and codes don't use", async () => {
  // The cost of hashing doesn't matter here.
  const scrypt = vi.spyOn(nodeCrypto, "scrypt").mockImplementation((_password, _salt, length, _options, done) => {
    done(null, Buffer.alloc(length));
  });
  onTestFinished(() => scrypt.mockRestore());
  const { site, broadcast } = await newBroadcaster();
  const flood = Promise.all(ADDRESSES.map((address) => guess(site, site.accounts.viewer.email, address)));
  expect(await broadcast()).toBe(200);
  await flood;
  expect(await countedBy(limiterName(site.id, { name: "broadcast", key: "" }))).toEqual(["broadcast"]);
  const objects = new Set(ADDRESSES.map((key) => limiterName(site.id, { name: "signInAddress", key })));
  expect(objects.size).toBeGreaterThan(10);
  for (const name of objects) expect(await countedBy(name)).toEqual(["signIn", "signInAddress"]);
});

test("each limit has its own objects, and public limits have several", () => {
  const scope = newId(Date.now());
  const objectsOf = (name: (typeof LIMIT_NAMES)[number]) =>
    new Set(Array.from({ length: 1000 }, (_, index) => limiterName(scope, { name, key: `192.0.2.${index}` })));
  const seen = new Map<string, string>();
  for (const name of LIMIT_NAMES) {
    const objects = objectsOf(name);
    expect(objects.size, name).toBe(["site", "deployment", "sandbox"].includes(LIMITS[name].per) ? 1 : 16);
    for (const object of objects) {
      const other = seen.get(object);
      expect(other === undefined || [other, name].every((limit) => limit.startsWith("signIn")), `${name} and ${other}`).toBe(true);
      seen.set(object, name);
    }
  }
});

test("the insights show the limits that the objects count", async () => {
  const { site, broadcast } = await newBroadcaster();
  await guess(site, site.accounts.viewer.email, ATTACKER);
  await broadcast();
  const { limits } = (await site.call("getLimits", { headers: { "CF-Connecting-IP": ATTACKER } })).as(LimitList);
  const remaining = (name: string) => limits.find((limit) => limit.name === name)?.remaining;
  expect(remaining("signInAddress")).toBe(LIMITS.signInAddress.quota - 1);
  expect(remaining("broadcast")).toBe(LIMITS.broadcast.quota - 1);
});
