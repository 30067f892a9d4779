import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accountLinks, accounts, intents, passwordResets, sessions, userProfiles } from "#db/schema/accounts.ts";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { upsertAccount } from "#worker/services/accounts/accounts.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { Wallet } from "#worker/services/wallets/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newEmail = (): string => `${randomHex(6)}@people.example`;
const upsert = (body: Record<string, unknown>, on = site): Promise<ApiResponse> =>
  on.call("upsertAccount", { body: { name: "Rita", ...body } });

const signIn = (email: string, password = PASSWORD): Promise<ApiResponse> =>
  site.call("login", {
    as: "nobody",
    body: { email, password, siteId: site.id },
    headers: { "CF-Connecting-IP": `2001:db8::${randomHex(2)}` },
  });

describe("upserting an account", () => {
  test("creates the account once, regardless of the case of its address, then updates the given fields", async () => {
    const email = newEmail();
    const link = { provider: "club-app", accountId: randomHex(6) };
    const roles = [{ scope: "Chat_Moderator", pageId: [site.channels[0]], write: true }];
    const created = (await upsert({ email, password: PASSWORD, thirdPartyAuthProviders: [link], roles })).as(Account);
    expect(created).toMatchObject({ email, name: "Rita", roles, thirdPartyAuthProviders: [link], marketingOptin: false });
    expect((await signIn(email)).status).toBe(200);
    const changed = (await upsert({ email: email.toUpperCase(), name: "Rita Réferee" })).as(Account);
    expect(changed).toMatchObject({
      _id: created._id,
      name: "Rita Réferee",
      normalizedName: "rita referee",
      roles,
      thirdPartyAuthProviders: [link],
    });
    expect((await signIn(email)).status).toBe(200);
    expect(await profileName(created._id)).toBe("Rita Réferee");
  });

  test("updates the account that a concurrent request created for the same address", async () => {
    const email = newEmail();
    let created: ApiResponse | undefined;
    const meanwhile = async () => {
      created ??= await upsert({ email, name: "One" });
    };
    const account = await upsertAccount(interruptedContext(site, meanwhile), { email, name: "Two" });
    expect(account).toMatchObject({ id: created?.as(Account)._id, name: "Two", version: 2 });
  });

  test("creates no account if the request has If-Match", async () => {
    const email = newEmail();
    for (const tag of ['"v1"', '"v0"', '"other"']) {
      const response = await site.call("upsertAccount", { body: { email, name: "Rita" }, headers: { "If-Match": tag } });
      expect([tag, response.problem?.code]).toEqual([tag, "precondition_failed"]);
    }
    expect(await db.$count(accounts, eq(accounts.email, email))).toBe(0);
  });

  test("creates an account that can't sign in with a password if none is given", async () => {
    const email = newEmail();
    await upsert({ email });
    expect((await signIn(email)).status).toBe(401);
  });

  test("ends every session when it sets a password", async () => {
    const email = newEmail();
    const { _id } = (await upsert({ email, password: PASSWORD })).as(Account);
    const { jwt, refreshToken } = (await signIn(email)).as(Tokens);
    await upsert({ email, password: "another-password" });
    const read = await site.call("getAccount", { as: "client", params: { id: _id }, headers: { Authorization: `Bearer ${jwt}` } });
    expect(read.status).toBe(401);
    expect((await site.call("refreshTokens", { as: "nobody", body: { refreshToken } })).status).toBe(401);
    expect((await signIn(email, "another-password")).status).toBe(200);
  });

  test("links a third-party sign-in to one account of the site, also in concurrent requests", async () => {
    const link = { provider: "club-app", accountId: randomHex(6) };
    const emails = [newEmail(), newEmail()];
    const responses = await Promise.all(emails.map((email) => upsert({ email, thirdPartyAuthProviders: [link] })));
    expect(responses.map((response) => response.status).sort()).toEqual([200, 409]);
    const loser = emails[responses[0]?.status === 200 ? 1 : 0] ?? "";
    expect((await upsert({ email: loser, thirdPartyAuthProviders: [link] })).problem?.message).toContain("third-party sign-in");
    const other = await newSite();
    expect((await upsert({ email: loser, thirdPartyAuthProviders: [link] }, other)).status).toBe(200);
    const winner = responses.find((response) => response.status === 200)?.as(Account);
    await upsert({ email: winner?.email, thirdPartyAuthProviders: [] });
    expect((await upsert({ email: loser, thirdPartyAuthProviders: [link] })).status).toBe(200);
  });

  test("takes at most three round trips to the database", async () => {
    const email = newEmail();
    expect((await upsert({ email })).log.d1.roundTrips).toBeLessThanOrEqual(3);
    expect((await upsert({ email, name: "Again" })).log.d1.roundTrips).toBeLessThanOrEqual(3);
  });
});

async function profileName(accountId: string): Promise<string | undefined> {
  return (await db.select().from(userProfiles).where(eq(userProfiles.accountId, accountId)))[0]?.name;
}

describe("updating an account", () => {
  const update = async (
    id: string,
    body: Record<string, unknown>,
    as: "developer" | "admin" | "viewer" = "developer",
    headers = {},
  ): Promise<ApiResponse> => site.call("updateAccount", { as, params: { id }, body: { name: "Vera", ...body }, headers });

  test("is allowed for everyone's own name and consent, and for others' only to admins", async () => {
    const { viewer, creator } = site.accounts;
    const changed = (await update(viewer.id, { name: "Véra", marketingOptin: true }, "viewer")).as(Account);
    expect(changed).toMatchObject({ name: "Véra", normalizedName: "vera", marketingOptin: true, email: viewer.email, tags: ["team:home"] });
    expect(await profileName(viewer.id)).toBe("Véra");
    expect((await update(creator.id, {}, "viewer")).problem?.code).toBe("forbidden");
    expect((await update(creator.id, {}, "admin")).status).toBe(200);
  });

  test("is allowed only to keys and admins for the address and third-party sign-ins", async () => {
    const { viewer } = site.accounts;
    const link = { provider: "club-app", accountId: randomHex(6) };
    for (const change of [{ email: newEmail() }, { thirdPartyAuthProviders: [link] }]) {
      expect((await update(viewer.id, change, "viewer")).problem?.code).toBe("forbidden");
    }
    expect((await update(viewer.id, { email: viewer.email.toUpperCase() }, "viewer")).status).toBe(200);
    const person = await site.addAccount(`mover-${randomHex(4)}`, []);
    const email = newEmail();
    const moved = (await update(person.id, { email: email.toUpperCase(), thirdPartyAuthProviders: [link] }, "admin")).as(Account);
    expect(moved).toMatchObject({ email, hash: await sha256(email), thirdPartyAuthProviders: [link] });
    expect((await signIn(email)).status).toBe(200);
  });

  test("rejects an address that another account has", async () => {
    const person = await site.addAccount(`taker-${randomHex(4)}`, []);
    expect((await update(person.id, { email: site.accounts.admin.email })).problem?.code).toBe("conflict");
  });

  test("rejects a placeholder address, but lets the account that has one keep it", async () => {
    const email = `${randomHex(12)}@no-mail.invalid`;
    expect(await upsert({ email })).toMatchObject({ status: 400, fields: ["email"] });
    const person = await site.addAccount(`mailless-${randomHex(4)}`, []);
    expect(await update(person.id, { email })).toMatchObject({ status: 400, fields: ["email"] });
    await db.update(accounts).set({ email }).where(eq(accounts.id, person.id));
    expect((await update(person.id, { email, name: "Nell" })).as(Account).name).toBe("Nell");
    expect((await upsert({ email, name: "Nelly" })).as(Account)._id).toBe(person.id);
  });

  test("rejects roles, tags and password, which have their own operations", async () => {
    for (const field of ["roles", "tags", "password"]) {
      expect((await update(site.accounts.viewer.id, { [field]: [] })).problem?.issues).toEqual([{ path: field, message: "Unknown field" }]);
    }
  });

  test("checks permissions before If-Match", async () => {
    const stale = { "If-Match": '"v999"' };
    const { viewer } = site.accounts;
    expect((await update(viewer.id, { email: newEmail() }, "viewer", stale)).problem?.code).toBe("forbidden");
    expect((await update(viewer.id, {}, "viewer", stale)).problem?.code).toBe("precondition_failed");
  });

  test("honors If-Match", async () => {
    const person = await site.addAccount(`etag-${randomHex(4)}`, []);
    const first = await update(person.id, { name: "One" });
    const match = { "If-Match": first.headers.get("ETag") ?? "" };
    expect((await update(person.id, { name: "Two" }, "developer", match)).status).toBe(200);
    expect((await update(person.id, { name: "Three" }, "developer", match)).problem?.code).toBe("precondition_failed");
  });
});

describe("deleting an account", () => {
  test("erases profile, sessions, links, resets and intents of that account only", async () => {
    const email = newEmail();
    const link = { provider: "club-app", accountId: randomHex(6) };
    const { _id: id } = (await upsert({ email, password: PASSWORD, thirdPartyAuthProviders: [link] })).as(Account);
    const { jwt } = (await signIn(email)).as(Tokens);
    await site.call("askPasswordReset", { body: { email, baseUrl: "https://demo.example/reset" } });
    await db
      .insert(intents)
      .values({ id: newId(1), siteId: site.id, hash: randomHex(8), kind: "partner", accountId: id, data: {}, created: 1, expires: 2 });
    const kept = await countsOf(site.accounts.admin.id);
    const headers = { Authorization: `Bearer ${jwt}` };
    expect((await site.call("deleteAccount", { as: "client", params: { id }, headers })).body).toEqual({ success: true, _id: id });
    expect(await countsOf(id)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await countsOf(site.accounts.admin.id)).toEqual(kept);
    expect((await site.call("getAccount", { as: "client", params: { id }, headers })).status).toBe(401);
    expect((await signIn(email)).status).toBe(401);
    expect((await upsert({ email, thirdPartyAuthProviders: [link] })).as(Account)._id).not.toBe(id);
  });

  test("erases the person's data from the event log, but keeps the events", async () => {
    const email = newEmail();
    const { _id: id } = (await upsert({ email, name: "Unforgettable" })).as(Account);
    await site.call("deleteAccount", { params: { id } });
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const about = results.filter((event) => event.resource === `account/${id}`);
    expect(about.map((event) => [event.type, event.data])).toEqual([
      ["new_account", { erased: true }],
      ["account.deleted", { _id: id, siteId: site.id }],
    ]);
  });

  test("erases what the event log has about the account's wallet", async () => {
    const { id } = await site.addAccount(`payer-${newId(Date.now())}`, []);
    const { _id: walletId } = (await site.call("getWalletOfAccount", { params: { accountId: id } })).as(Wallet);
    const body = { transactionId: "one", amount: 5, reason: "Prize of Unforgettable" };
    expect((await site.call("createWalletTransaction", { params: { id: walletId }, body })).status).toBe(201);
    await site.call("deleteAccount", { params: { id } });
    await vi.waitFor(async () => {
      const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
      const about = results.filter((event) => event.resource === `wallet/${walletId}`);
      expect(about.map((event) => [event.type, event.data])).toEqual([
        ["wallet.created", { erased: true }],
        ["wallet.transactionCreated", { erased: true }],
        ["wallet.deleted", { _id: walletId, siteId: site.id, ownerId: id, ownerType: "account" }],
      ]);
    });
  });

  test("is allowed for admins, but not for other viewers", async () => {
    const person = await site.addAccount(`victim-${randomHex(4)}`, []);
    const remove = (as: "viewer" | "admin") => site.call("deleteAccount", { as, params: { id: person.id } });
    expect((await remove("viewer")).problem?.code).toBe("forbidden");
    expect((await remove("admin")).status).toBe(200);
    expect((await remove("admin")).status).toBe(404);
  });
});

/** The number of rows per table that belong to an account. */
function countsOf(id: string): Promise<number[]> {
  return Promise.all([
    db.$count(accounts, eq(accounts.id, id)),
    db.$count(userProfiles, eq(userProfiles.accountId, id)),
    db.$count(sessions, eq(sessions.accountId, id)),
    db.$count(accountLinks, eq(accountLinks.accountId, id)),
    db.$count(passwordResets, eq(passwordResets.accountId, id)),
    db.$count(intents, eq(intents.accountId, id)),
  ]);
}
