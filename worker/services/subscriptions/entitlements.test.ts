import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { newSite, openSocket, type TestAccount, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { grantEntitlement, heldSkus, revokeEntitlement } from "./entitlements.ts";
import { ownerKey, readRights } from "#worker/services/realtime/rights.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;
let ctx: Ctx;

beforeAll(async () => {
  site = await newSite();
  ctx = systemOf(site);
});

/** Runs work as Tifo itself for a site. */
function systemOf({ id }: TestSite): Ctx {
  return {
    env,
    siteId: id,
    db,
    now: Date.now(),
    requestId: "test",
    caller: async () => ({ kind: "system" }),
    ifMatch: undefined,
    deviceId: undefined,
    emitted: { siteIds: new Set(), completedEventIds: [] },
    defer: () => undefined,
  };
}

let people = 0;

function newFan(): Promise<TestAccount> {
  return site.addAccount(`holder-${++people}`, []);
}

function rowsOf({ id }: TestAccount) {
  return db.select().from(accountEntitlements).where(eq(accountEntitlements.accountId, id));
}

async function eventsOf(id: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource === `entitlement/${id}`).map((event) => event.type);
}

const grant = (fan: TestAccount, sku: string) => grantEntitlement(ctx, { accountId: fan.id, sku, grantedMethod: "customerService" });

describe("a sku", () => {
  test("is held once and has one event, however often it is granted", async () => {
    const fan = await newFan();
    const rows = await Promise.all(Array.from({ length: 5 }, () => grant(fan, "pass")));
    expect(new Set(rows.map((row) => row.id)).size).toBe(1);
    expect(await rowsOf(fan)).toHaveLength(1);
    expect(await eventsOf(rows[0]?.id ?? "")).toEqual(["entitlement_granted"]);
  });

  test("that was revoked can be granted again, and the first record stays", async () => {
    const fan = await newFan();
    const first = await grant(fan, "pass");
    const taken = await revokeEntitlement(ctx, { accountId: fan.id, sku: "pass" });
    expect(taken).toMatchObject({ id: first.id, status: "cancelled", dateCancelled: ctx.now });
    expect(await heldSkus(ctx, fan.id)).toEqual([]);
    const second = await grant(fan, "pass");
    expect(second.id).not.toBe(first.id);
    expect((await rowsOf(fan)).map((row) => row.status).sort()).toEqual(["active", "cancelled"]);
    expect(await eventsOf(first.id)).toEqual(["entitlement_granted", "entitlement_revoked"]);
  });

  test("is revoked once by several concurrent requests", async () => {
    const fan = await newFan();
    const { id } = await grant(fan, "pass");
    const attempts = Array.from({ length: 4 }, () => revokeEntitlement(ctx, { accountId: fan.id, sku: "pass" }));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await eventsOf(id)).toEqual(["entitlement_granted", "entitlement_revoked"]);
  });

  test("with a scheduled cancellation is still held, and isn't granted a second time", async () => {
    const fan = await newFan();
    const { id } = await grant(fan, "pass");
    await db.update(accountEntitlements).set({ status: "cancelScheduled" }).where(eq(accountEntitlements.id, id));
    expect((await grant(fan, "pass")).id).toBe(id);
    expect(await heldSkus(ctx, fan.id)).toEqual(["pass"]);
  });

  test("of another site is independent", async () => {
    const fan = await newFan();
    await grant(fan, "pass");
    const other = systemOf(await newSite());
    expect(await heldSkus(other, fan.id)).toEqual([]);
    await expect(revokeEntitlement(other, { accountId: fan.id, sku: "pass" })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("an account", () => {
  test("has the skus that it holds, alone and in lists", async () => {
    const fan = await newFan();
    await grant(fan, "b-pass");
    await grant(fan, "a-pass");
    await grant(fan, "gone");
    await revokeEntitlement(ctx, { accountId: fan.id, sku: "gone" });
    const alone = (await site.call("getAccount", { params: { id: fan.id } })).as(Account);
    expect([...alone.subscriptions].sort()).toEqual(["a-pass", "b-pass"]);
    const { results } = (await site.call("listAccounts", { query: { email: fan.email } })).as(listOf(Account));
    expect(results.map((account) => account.subscriptions)).toEqual([alone.subscriptions]);
  });

  test("that is deleted leaves its entitlements as cancelled records, each with an event", async () => {
    const fan = await newFan();
    const held = [await grant(fan, "pass"), await grant(fan, "other-pass")];
    await db
      .update(accountEntitlements)
      .set({ status: "cancelScheduled", dateEnds: Date.now() + 1e9 })
      .where(eq(accountEntitlements.id, held[1]?.id ?? ""));
    expect((await site.call("deleteAccount", { params: { id: fan.id } })).status).toBe(200);
    await vi.waitUntil(async () => (await rowsOf(fan)).every(({ status }) => status === "cancelled"));
    expect((await rowsOf(fan)).map(({ sku }) => sku).sort()).toEqual(["other-pass", "pass"]);
    for (const { id } of held) {
      await vi.waitUntil(async () => (await eventsOf(id)).length === 2);
      expect(await eventsOf(id)).toEqual(["entitlement_granted", "entitlement_cancelled"]);
    }
  });
});

describe("a gate", () => {
  const gated = (type: "none" | "login" | "entitlement", skus: string[]) =>
    site.addChannel(`gated-${randomHex(6)}`, { gate: { type, skus } });
  const passes = async (accountId: string, channelId: string | Promise<string>) => {
    const owner = { accountId, sessionId: null };
    const { byOwner } = await readRights(env, { siteId: site.id, channelId: await channelId }, [owner], ctx.now);
    return byOwner.get(ownerKey(owner))?.denial === null;
  };

  test("for entitlements admits holders of one of its skus, and managers of the channel", async () => {
    const { viewer, admin } = site.accounts;
    const fan = await newFan();
    const moderator = await site.addAccount(`moderator-${randomHex(4)}`, [{ scope: "Chat_Moderator", pageId: [], write: true }]);
    await grant(fan, "pass");
    const gate = await gated("entitlement", ["gold", "pass"]);
    const creator = await site.addAccount(`creator-${randomHex(4)}`, [{ scope: "*", pageId: [gate], write: true }]);
    const passing = await Promise.all([fan, viewer, admin, creator, moderator].map(({ id }) => passes(id, gate)));
    expect(passing).toEqual([true, false, true, true, false]);
    expect(await passes(fan.id, gated("entitlement", ["gold"]))).toBe(false);
    expect(await passes(fan.id, gated("entitlement", []))).toBe(false);
    expect(await passes(creator.id, gated("entitlement", ["gold"]))).toBe(false);
    await revokeEntitlement(ctx, { accountId: fan.id, sku: "pass" });
    expect(await passes(fan.id, gate)).toBe(false);
  });

  test("closes when an entitlement ends, even before that is recorded", async () => {
    const fan = await newFan();
    const { id } = await grant(fan, "pass");
    const endsIn = (ms: number) =>
      db
        .update(accountEntitlements)
        .set({ status: "cancelScheduled", dateEnds: ctx.now + ms })
        .where(eq(accountEntitlements.id, id));
    await endsIn(1);
    expect(await passes(fan.id, gated("entitlement", ["pass"]))).toBe(true);
    await endsIn(0);
    expect(await passes(fan.id, gated("entitlement", ["pass"]))).toBe(false);
    expect(await heldSkus(ctx, fan.id)).toEqual(["pass"]);
  });

  test("for login admits any account or, with skus, accounts that redeemed a login code for one of them", async () => {
    const { viewer } = site.accounts;
    const fan = await newFan();
    await grant(fan, "backstage");
    const gate = await gated("login", ["backstage"]);
    expect(await passes(viewer.id, gated("login", []))).toBe(true);
    expect(await passes(fan.id, gate)).toBe(false);
    const accessCode = `LOGIN-${randomHex(4)}`;
    await addSkus(site, "backstage");
    await site.call("addAccessCode", { query: { accessCode, siteId: site.id, sku: "backstage", type: "login" } });
    await site.call("consumeAccessCode", { as: "viewer", params: { accessCode } });
    expect(await passes(viewer.id, gate)).toBe(true);
    expect(await passes(viewer.id, gated("entitlement", ["backstage"]))).toBe(false);
    expect(await passes(newId(8), gate)).toBe(false);
  });

  test("is checked when a viewer connects", async () => {
    const channelId = await site.addChannel(`login-${randomHex(4)}`, { gate: { type: "login", skus: ["inner-circle"] } });
    const enter = async () => {
      const { ticket } = (await site.call("createTicket", { as: "viewer", body: { channelId } })).as(Ticket);
      return openSocket(site, channelId, { ticket });
    };
    expect((await (await enter()).closed).code).toBe(CLOSE.forbidden);
    const accessCode = `LOGIN-${randomHex(4)}`;
    await addSkus(site, "inner-circle");
    await site.call("addAccessCode", { query: { accessCode, siteId: site.id, sku: "inner-circle", type: "login" } });
    await site.call("consumeAccessCode", { as: "viewer", params: { accessCode } });
    await (await enter()).first("welcome");
  });
});
