import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { newId } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { expireEntitlements } from "#worker/services/subscriptions/entitlement-expiry.ts";
import { newSite, type TestSite } from "../harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

async function addEntitlement(site: TestSite, sku: string, row: Partial<typeof accountEntitlements.$inferInsert>): Promise<string> {
  const id = newId(Date.now());
  await db.insert(accountEntitlements).values({
    id,
    siteId: site.id,
    accountId: site.accounts.viewer.id,
    sku,
    grantedMethod: "purchased",
    price: 900,
    status: "cancelScheduled",
    dateGranted: 1,
    created: 1,
    modified: 1,
    ...row,
  });
  return id;
}

async function statusOf(id: string) {
  const [row] = await db.select().from(accountEntitlements).where(eq(accountEntitlements.id, id));
  return row?.status;
}

test("an entitlement with a scheduled cancellation ends on its day and not before, with one event", async () => {
  const [site, other] = [await newSite(), await newSite()];
  const day = Date.now() + 86_400_000;
  const ends = await addEntitlement(site, "ends", { dateEnds: day });
  const elsewhere = await addEntitlement(other, "ends", { dateEnds: day });
  const later = await addEntitlement(site, "later", { dateEnds: day + 1 });
  const renewing = await addEntitlement(site, "renewing", { dateEnds: day, status: "active" });
  const granted = await addEntitlement(site, "granted", { status: "active" });
  await runScheduled(env, day - 1);
  expect(await statusOf(ends)).toBe("cancelScheduled");
  const context = { env, db, shard: 1, now: day };
  await Promise.all([expireEntitlements(context), expireEntitlements(context), runScheduled(env, day)]);
  await runScheduled(env, day);
  expect(await Promise.all([ends, elsewhere, later, renewing, granted].map(statusOf))).toEqual([
    "cancelled",
    "cancelled",
    "cancelScheduled",
    "active",
    "active",
  ]);
  const { results } = (await site.call("listEvents")).as(EventList);
  expect(results.map((event) => [event.type, event.resource])).toEqual([["entitlement_expired", `entitlement/${ends}`]]);
  expect(results[0]?.data).toMatchObject({ status: "cancelled", dateCancelled: day });
});
