import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { invites } from "#db/schema/invites.ts";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { consumeIntent } from "#worker/services/auth/intents.ts";
import { revokeInvite } from "#worker/services/invites/invites.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Invite } from "#worker/services/invites/schemas.ts";
import { openMagicLink, intentOf, inviteCalls, problemOf } from "#test/invites.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addSkus(site, "vip", "press", "before", "after", "more", "new");
});

const { newInvite, reread, redeem, signedIn, eventsOf } = inviteCalls(() => site);

describe("a redeemed invite", () => {
  test("creates a guest account that holds the target skus", async () => {
    const invite = await newInvite({ targetSkus: ["vip", "press"] });
    const { account } = await signedIn(await intentOf(invite.token));
    expect(account).toMatchObject({ name: "Guest", subscriptions: ["press", "vip"], roles: [] });
    expect((await reread(invite._id)).accountId).toBe(account._id);
  });

  test("grants the skus it has on redemption, even if they change concurrently", async () => {
    const invite = await newInvite({ targetSkus: ["before"] });
    const intent = await intentOf(invite.token);
    let changes = 0;
    const meanwhile = async () => {
      const body = { redirectUri: invite.redirectUri, targetSkus: ["after"] };
      if (changes++ === 0) await site.call("updateInvite", { params: { id: invite._id }, body });
    };
    await consumeIntent(interruptedContext(site, meanwhile), intent);
    const held = await db
      .select()
      .from(accountEntitlements)
      .where(eq(accountEntitlements.source, `invite/${invite._id}`));
    expect(held.map(({ sku }) => sku)).toEqual(["after"]);
    const [row] = await db.select().from(invites).where(eq(invites.id, invite._id));
    // Created, opened, updated, redeemed.
    expect(row).toMatchObject({ version: 4, accountId: held[0]?.accountId });
  });

  test("is redeemed by only one of several concurrent intents", async () => {
    const invite = await newInvite();
    const found = await Promise.all(Array.from({ length: 5 }, () => intentOf(invite.token)));
    const responses = await Promise.all(found.map(redeem));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of responses) expect([200, 400, 404]).toContain(status);
    const granted = await db
      .select()
      .from(accountEntitlements)
      .where(eq(accountEntitlements.source, `invite/${invite._id}`));
    expect(granted).toHaveLength(1);
  });

  test("admits its holder to a gated channel until it is revoked", async () => {
    const sku = `gate-${randomHex(4)}`;
    const channelId = await site.addChannel(`gated-${randomHex(4)}`, { gate: { type: "entitlement", skus: ["other", sku] } });
    const join = async (headers: Record<string, string>) => {
      const { ticket } = (await site.call("createTicket", { as: "client", headers, body: { channelId } })).as(Ticket);
      return openSocket(site, channelId, { ticket });
    };
    const outsider = await join(await site.headersOf("viewer"));
    expect((await outsider.closed).code).toBe(CLOSE.forbidden);
    await addSkus(site, sku);
    const invite = await newInvite({ targetSkus: [sku] });
    const { account, headers } = await signedIn(await intentOf(invite.token));
    await (await join(headers)).first("welcome");
    const revoked = (await site.call("revokeInvite", { params: { id: invite._id } })).as(Invite);
    expect(revoked).toMatchObject({ revoked: true, consumed: true, accountId: account._id });
    expect((await site.call("getAccount", { params: { id: account._id } })).as(Account).subscriptions).toEqual([]);
    const former = await join(headers);
    expect((await former.closed).code).toBe(CLOSE.forbidden);
    const [entitlement] = await db.select().from(accountEntitlements).where(eq(accountEntitlements.accountId, account._id));
    expect(entitlement).toMatchObject({ status: "cancelled", sku });
    expect(await eventsOf(invite._id)).toEqual(["invite.created", "invite.consumed", "invite.redeemed", "invite.revoked"]);
  });

  test("can't be updated, nor deleted until it is revoked", async () => {
    const invite = await newInvite();
    await redeem(await intentOf(invite.token));
    const body = { redirectUri: invite.redirectUri, targetSkus: ["more"] };
    const params = { id: invite._id };
    expect((await site.call("updateInvite", { params, body })).problem?.message).toBe(
      "Update Invite in Invite Service failed - The invite has already been redeemed",
    );
    expect((await site.call("deleteInvite", { params })).problem?.message).toBe(
      "Delete Invite in Invite Service failed - The invite has been redeemed; revoke it first, which also revokes what it granted",
    );
    await site.call("revokeInvite", { params });
    expect((await site.call("deleteInvite", { params })).status).toBe(200);
  });
});

describe("a revoked invite", () => {
  test("admits nobody, neither by its link nor by an intent issued before", async () => {
    const invite = await newInvite();
    const intent = await intentOf(invite.token);
    expect((await site.call("revokeInvite", { params: { id: invite._id } })).as(Invite).revoked).toBe(true);
    expect(await problemOf(await openMagicLink(invite.token))).toEqual({
      status: 400,
      message: "Consume Invite in Invite Service failed - The invite has been revoked",
    });
    expect((await redeem(intent)).status).toBe(404);
    expect((await reread(invite._id)).revoked).toBe(true);
  });

  test("revokes everything it granted, even if that changes concurrently", async () => {
    const invite = await newInvite();
    const { account } = await signedIn(await intentOf(invite.token));
    const ofAccount = eq(accountEntitlements.accountId, account._id);
    let changes = 0;
    const meanwhile = async () => {
      if (changes++ === 0) await db.update(accountEntitlements).set({ price: 1, version: 2 }).where(ofAccount);
    };
    expect((await revokeInvite(interruptedContext(site, meanwhile), invite._id)).revokedAt).not.toBeNull();
    expect(await db.select().from(accountEntitlements).where(ofAccount)).toMatchObject([{ status: "cancelled", version: 3 }]);
    const { results } = (await site.call("listEvents", { query: { types: "entitlement_revoked", limit: 200 } })).as(EventList);
    expect(results.filter(({ data }) => data.accountId === account._id)).toHaveLength(1);
  });

  test("can't be revoked again", async () => {
    const invite = await newInvite();
    const params = { id: invite._id };
    await site.call("revokeInvite", { params });
    expect((await site.call("revokeInvite", { params })).problem?.message).toBe(
      "Revoke Invite in Invite Service failed - The invite has already been revoked",
    );
  });

  test("returns the same message to a concurrent revocation", async () => {
    const { _id: id } = await newInvite();
    let revocations = 0;
    const meanwhile = async () => {
      if (revocations++ === 0) await site.call("revokeInvite", { params: { id } });
    };
    await expect(revokeInvite(interruptedContext(site, meanwhile), id)).rejects.toMatchObject({
      message: "Revoke Invite in Invite Service failed - The invite has already been revoked",
    });
  });

  test("grants nothing, even if it is redeemed concurrently", async () => {
    for (let round = 0; round < 4; round++) {
      const invite = await newInvite();
      const intent = await intentOf(invite.token);
      const [revoked, redeemed] = await Promise.all([site.call("revokeInvite", { params: { id: invite._id } }), redeem(intent)]);
      const held = await db
        .select()
        .from(accountEntitlements)
        .where(eq(accountEntitlements.source, `invite/${invite._id}`));
      // Whichever came first, nobody holds an entitlement of a revoked invite.
      if (revoked.status === 200) expect(held.filter((row) => row.status === "active")).toEqual([]);
      else expect(redeemed.status).toBe(200);
    }
  });
});
