import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { inArray } from "drizzle-orm";
import { vi } from "vitest";
import { createDb } from "#db/client.ts";
import { memberExports, outbox } from "#db/schema/index.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { MemberDetails } from "#worker/services/community/schemas.ts";
import { Subscription } from "#worker/services/subscriptions/schemas.ts";
import { continueExport } from "#worker/services/community/exports.ts";
import type { TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";

// What the operations on subscriptions and members take that must be there: skus on offer, somebody who holds one, a finished file.

const db = createDb(env.DB);

async function newSubscription(site: TestSite) {
  const body = { siteId: site.id, name: "Cup pass", sku: `cup-${randomHex(6)}`, subscriptionProvider: "external" };
  return (await site.call("createSubscription", { body })).as(Subscription);
}

async function held(site: TestSite): Promise<{ accountId: string; sku: string }> {
  const { sku } = await newSubscription(site);
  const accountId = site.accounts.viewer.id;
  await site.call("grantSubscription", { body: { accountId, sku } });
  return { accountId, sku };
}

async function heldEntitlement(site: TestSite): Promise<Record<string, string>> {
  const { accountId, sku } = await held(site);
  const { entitlements } = (await site.call("getMember", { query: { accountId } })).as(MemberDetails);
  return { accountId, id: entitlements.find((row) => row.entitlement === sku)?._id ?? "" };
}

/** Fields of bodies. */
export const COMMERCE_FIELDS: Record<string, (site: TestSite, operation: Operation) => Promise<unknown>> = {
  accountId: async (site) => site.accounts.viewer.id,
  sku: async (site, { operationId }) =>
    ["grantSubscription", "createAccessCodes"].includes(operationId) ? (await newSubscription(site)).sku : `cup-${randomHex(6)}`,
  targetSkus: async (site) => [(await newSubscription(site)).sku],
  items: async (site) => [{ type: "ticket", id: (await newSubscription(site)).sku }],
};

/** Parameters of queries, by operation. */
export const COMMERCE_QUERIES: Record<string, (site: TestSite) => Promise<Record<string, string>>> = {
  revokeSubscription: held,
  addAccessCode: async (site) => ({ sku: (await newSubscription(site)).sku }),
  getMember: async (site) => ({ accountId: site.accounts.viewer.id }),
  grantEntitlement: async (site) => ({ accountId: site.accounts.viewer.id, subscriptionId: (await newSubscription(site))._id }),
  updateEntitlement: heldEntitlement,
  patchEntitlement: heldEntitlement,
};

/** What paths name that is no id of ours. */
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

/** What makes the resource of a path whose own creator lies elsewhere. */
export const COMMERCE_CREATORS: Record<string, string> = {
  "/subscription/v2/account/{accountId}": "createAccount",
  "/community/v1/export/{exportId}": "exportMembers",
};

/** Resolves once no export is under way, nor told of: the queue works by itself, and what it writes belongs to no request. */
export async function waitForExports(): Promise<void> {
  const underWay = inArray(memberExports.status, ["pending", "running"]);
  const isQuiet = async () => (await db.$count(memberExports, underWay)) + (await db.$count(outbox)) === 0;
  await vi.waitUntil(isQuiet, { interval: 20 });
}
