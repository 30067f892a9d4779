import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import nodeCrypto from "node:crypto";
import { beforeAll, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { LIMITS, limiterName, type Slot } from "#worker/lib/limits.ts";
import { newId } from "#worker/lib/ids.ts";
import { rejectionCache } from "#worker/services/core/limits.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { newSite, PASSWORD, type TestSite } from "../harness.ts";

// The expensive part of a sign-in.
let hashed: MockInstance<typeof nodeCrypto.scrypt>;

const ATTACKER = "203.0.113.9";
const OWNER = "198.51.100.7";

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

beforeEach(() => {
  hashed = vi.spyOn(nodeCrypto, "scrypt");
});

async function signIn(email: string, password: string, address: string, on = site): Promise<number> {
  const body = { email, password, siteId: on.id };
  return (await on.call("login", { as: "nobody", body, headers: { "CF-Connecting-IP": address } })).status;
}

/** Concurrent wrong passwords for one account from one address. */
function flood(email: string, attempts: number, on = site): Promise<number[]> {
  return Promise.all(Array.from({ length: attempts }, (_, index) => signIn(email, `guess-${index}`, ATTACKER, on)));
}

test("a flood of wrong passwords for one account causes five hashes, and the rest are rejected without one", async () => {
  const statuses = await flood(site.accounts.admin.email, 60);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(55);
  expect(hashed).toHaveBeenCalledTimes(5);
});

test("a flood for an account that doesn't exist has the same cost and responses", async () => {
  const statuses = await flood("nobody@demo.example", 20);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(hashed).toHaveBeenCalledTimes(5);
});

test("a flood doesn't affect other accounts, other sites or the owner at another address", async () => {
  const { admin, viewer } = site.accounts;
  await flood(admin.email, 20);
  expect(await signIn(admin.email, PASSWORD, ATTACKER)).toBe(429);
  expect(await signIn(admin.email, PASSWORD, OWNER)).toBe(200);
  expect(await signIn(viewer.email, PASSWORD, ATTACKER)).toBe(200);
  expect(await signIn(other.accounts.admin.email, PASSWORD, ATTACKER, other)).toBe(200);
});

test("a flood over many accounts is limited by its address, and correct passwords don't count", async () => {
  const address = "203.0.113.77";
  const slot: Slot = { name: "signInAddress", key: address };
  const limiter = env.LIMITER.getByName(limiterName(other.id, slot));
  for (let taken = 0; taken < LIMITS.signInAddress.quota - 2; taken++) await limiter.takeAll([slot]);
  expect(await signIn(other.accounts.viewer.email, PASSWORD, address, other)).toBe(200);
  hashed.mockClear();
  const statuses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => signIn(`fan-${index}@demo.example`, "guess", address, other)),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(2);
  expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  expect(hashed).toHaveBeenCalledTimes(2);
  expect(await signIn(other.accounts.viewer.email, PASSWORD, OWNER, other)).toBe(200);
  // Attempts that were rejected because of the address don't use up the account's quota.
  for (let attempt = 0; attempt < 10; attempt++) expect(await signIn(other.accounts.admin.email, PASSWORD, address, other)).toBe(429);
  await limiter.giveBack([slot]);
  rejectionCache.clear();
  expect(await signIn(other.accounts.admin.email, PASSWORD, address, other)).toBe(200);
});

test("a sign-in to a site that doesn't exist is rejected like any other, and creates no counter", async () => {
  const siteId = newId(Date.now());
  const body = { email: "ada@demo.example", password: "guess", siteId };
  const response = await site.call("login", { as: "nobody", body, headers: { "CF-Connecting-IP": ATTACKER } });
  expect(response.status).toBe(401);
  expect(hashed).toHaveBeenCalledTimes(1);
  const objects = await listDurableObjectIds(env.LIMITER);
  const slot: Slot = { name: "signInAddress", key: ATTACKER };
  const counterOf = (scope: string) => env.LIMITER.idFromName(limiterName(scope, slot)).toString();
  expect(objects.map(String)).not.toContain(counterOf(siteId));
  expect(objects.map(String)).toContain(counterOf(GLOBAL_AUDIENCE));
});

test("wrong old passwords of a stolen session count towards the same quota", async () => {
  const { creator } = site.accounts;
  const headers = { Authorization: `Bearer ${await site.signIn(creator)}`, "CF-Connecting-IP": ATTACKER };
  const guess = async (oldPassword: string) =>
    (await site.call("changePassword", { as: "client", body: { oldPassword, password: "a-new-one-to-keep" }, headers })).status;
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, index) => guess(`guess-${index}`)));
  expect(statuses.filter((status) => status === 400)).toHaveLength(5);
  expect(hashed).toHaveBeenCalledTimes(5);
  expect(await signIn(creator.email, PASSWORD, ATTACKER)).toBe(429);
  expect(await signIn(creator.email, PASSWORD, OWNER)).toBe(200);
});
