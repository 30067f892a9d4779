import { env } from "cloudflare:workers";
import type { z } from "@hono/zod-openapi";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, signInFailures, signInPlaces } from "#db/schema/accounts.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { prunePlaces, publishSignInFailures } from "#worker/services/auth/sign-in-attempts.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const LATER = 5 * 60_000;

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

async function fail(email: string, address: string): Promise<void> {
  const body = { email, password: "a wrong guess", siteId: site.id };
  await site.call("login", { as: "nobody", body, headers: { "CF-Connecting-IP": address } });
}

const storedFailures = () => db.select().from(signInFailures).where(eq(signInFailures.siteId, site.id));

const publish = () => publishSignInFailures({ env, db, shard: 1, now: Date.now() + LATER });

async function failures(): Promise<z.output<typeof EventList>["results"]> {
  await env.SITE_LOG.getByName(site.id).nudge();
  return (await site.call("listEvents", { query: { limit: 200, types: "account.signInFailed" } })).as(EventList).results;
}

test("failed sign-ins to an account become one event per address and minute, with the number of attempts", async () => {
  const { viewer } = site.accounts;
  for (let i = 0; i < 3; i++) await fail(viewer.email, "203.0.113.9");
  await fail(viewer.email, "2001:db8:7::9");
  const rows = await storedFailures();
  expect(rows.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(4);
  expect(await failures()).toEqual([]);
  await publish();
  const events = await failures();
  expect(events).toHaveLength(rows.length);
  for (const { resource, data } of events) {
    expect(resource).toBe(`account/${viewer.id}`);
    expect(data).toMatchObject({ _id: viewer.id, siteId: site.id, reason: "password" });
  }
  const addresses = new Set(events.map(({ data }) => data.address));
  expect(addresses).toEqual(new Set(["203.0.113.9", "2001:db8:7:0::/64"]));
  expect(JSON.stringify(events)).not.toContain(viewer.email);
  await publish();
  expect(await failures()).toHaveLength(rows.length);
});

test("failed sign-ins without a matching account aren't recorded", async () => {
  await fail("nobody@demo.example", "203.0.113.9");
  expect(await storedFailures()).toEqual([]);
});

test("a failed sign-in of the current minute isn't published yet", async () => {
  await fail(site.accounts.viewer.email, "203.0.113.9");
  await publishSignInFailures({ env, db, shard: 1, now: Date.now() });
  expect(await storedFailures()).toHaveLength(1);
});

test("a flood across many accounts emits at most fifty events a minute per site", async () => {
  const minute = Math.floor(Date.now() / 60_000);
  const rows = Array.from({ length: 120 }, (_, index) => {
    const accountId = index.toString(16).padStart(24, "0");
    return { siteId: site.id, accountId, address: "203.0.113.9", reason: "password" as const, minute, attempts: 1 };
  });
  for (let i = 0; i < rows.length; i += 10) await db.insert(signInFailures).values(rows.slice(i, i + 10));
  await publish();
  expect(await failures()).toHaveLength(50);
  expect(await storedFailures()).toHaveLength(70);
  await publish();
  await publish();
  expect(await failures()).toHaveLength(120);
  expect(await storedFailures()).toEqual([]);
});

test("known sign-in places are deleted with the account, or after 90 days", async () => {
  const { viewer, creator } = site.accounts;
  const places = (accountId: string) => db.$count(signInPlaces, eq(signInPlaces.accountId, accountId));
  for (const { email } of [viewer, creator]) {
    const body = { email, password: "demo-admin-pass", siteId: site.id };
    await site.call("login", { as: "nobody", body, headers: { "CF-Connecting-IP": "203.0.113.9", "Tifo-Device-Id": "tv" } });
  }
  expect([await places(viewer.id), await places(creator.id)]).toEqual([2, 2]);
  await fail(viewer.email, "203.0.113.9");
  await site.call("deleteAccount", { params: { id: viewer.id } });
  expect([await places(viewer.id), await places(creator.id)]).toEqual([0, 2]);
  expect(await storedFailures()).toEqual([]);
  expect(await db.$count(accounts, eq(accounts.id, viewer.id))).toBe(0);
  await prunePlaces({ db, now: Date.now() + 89 * 86_400_000 });
  expect(await places(creator.id)).toBe(2);
  await prunePlaces({ db, now: Date.now() + 91 * 86_400_000 });
  expect(await places(creator.id)).toBe(0);
});
