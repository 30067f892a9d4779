import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { inArray } from "drizzle-orm";
import { vi } from "vitest";
import { createDb } from "#db/client.ts";
import { memberExports } from "#db/schema/commerce/exports.ts";
import { outbox } from "#db/schema/events.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { MemberDetails } from "#worker/services/community/schemas.ts";
import { Subscription } from "#worker/services/subscriptions/schemas.ts";
import { continueExport } from "#worker/services/community/exports.ts";
import type { TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";
import { siteStore } from "#test/site-store.ts";

// Live values for the subscription and member operations: skus, an account that holds one, a completed export.

const db = createDb(siteStore);

async function newSubscription(site: TestSite) {
  const body = { siteId: site.id, name: "Cup pass", sku: `cup-${randomHex(6)}`, subscriptionProvider: "external" };
  return (await site.call("createSubscription", { body })).as(Subscription);
}

async function grantedSku(site: TestSite): Promise<{ accountId: string; sku: string }> {
  const { sku } = await newSubscription(site);
  const accountId = site.accounts.viewer.id;
  await site.call("grantSubscription", { body: { accountId, sku } });
  return { accountId, sku };
}

async function grantedEntitlement(site: TestSite): Promise<Record<string, string>> {
  const { accountId, sku } = await grantedSku(site);
  const { entitlements } = (await site.call("getMember", { query: { accountId } })).as(MemberDetails);
  return { accountId, id: entitlements.find((row) => row.entitlement === sku)?._id ?? "" };
}

/** Body fields. */
export const COMMERCE_FIELDS: Record<string, (site: TestSite, operation: Operation) => Promise<unknown>> = {
  accountId: async (site) => site.accounts.viewer.id,
  sku: async (site, { operationId }) =>
    ["grantSubscription", "createAccessCodes"].includes(operationId) ? (await newSubscription(site)).sku : `cup-${randomHex(6)}`,
  targetSkus: async (site) => [(await newSubscription(site)).sku],
  items: async (site) => [{ type: "ticket", id: (await newSubscription(site)).sku }],
};

/** Query parameters by operation. */
export const COMMERCE_QUERIES: Record<string, (site: TestSite) => Promise<Record<string, string>>> = {
  getConcurrentsHistory: async (site) => ({ siteId: site.id }),
  revokeSubscription: grantedSku,
  addAccessCode: async (site) => ({ sku: (await newSubscription(site)).sku }),
  getMember: async (site) => ({ accountId: site.accounts.viewer.id }),
  grantEntitlement: async (site) => ({ accountId: site.accounts.viewer.id, subscriptionId: (await newSubscription(site))._id }),
  updateEntitlement: grantedEntitlement,
  patchEntitlement: grantedEntitlement,
};

/** Path parameters that aren't ids of ours. */
export const COMMERCE_PARAMETERS: Record<string, (site: TestSite) => Promise<string>> = {
  "/subscription/v2/sku/{sku}": async (site) => (await newSubscription(site)).sku,
  "/community/v1/export/file/{token}": async (site) => {
    const { exportId } = z.object({ exportId: z.string() }).parse((await site.call("exportMembers")).body);
    await continueExport({ env, db }, { kind: "memberExport", siteId: site.id, exportId }, Date.now);
    await waitForExports();
    const state = await site.call("getExport", { params: { exportId } });
    return z.object({ downloadUrl: z.string() }).parse(state.body).downloadUrl.split("/").at(-1) ?? "";
  },
};

/** The operation that creates a path's resource, if it has a different path. */
export const COMMERCE_CREATORS: Record<string, string> = {
  "/subscription/v2/account/{accountId}": "createAccount",
  "/community/v1/export/{exportId}": "exportMembers",
};

/** Waits for all exports and their events: the queue writes them independently of any request. */
export async function waitForExports(): Promise<void> {
  const running = inArray(memberExports.status, ["pending", "running"]);
  const isIdle = async () => (await db.$count(memberExports, running)) + (await db.$count(outbox)) === 0;
  await vi.waitUntil(isIdle, { interval: 20 });
}
