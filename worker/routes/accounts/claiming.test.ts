import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, emailProofs, totpSecrets } from "#db/schema/accounts.ts";
import type { AccountRole } from "#db/types.ts";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

// The owner of an address opens the verification email of an account that someone else created with it.

const db = createDb(siteStore);
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const OWN_PASSWORD = "the-owner-chose-this";
const REJECTED = { status: 403, code: "password_required" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function signUp() {
  const email = `${randomHex(6)}@people.example`;
  return (await site.call("createAccount", { body: { email, password: PASSWORD, name: "Squatter" } })).as(Account);
}

const signIn = (email: string, password = PASSWORD): Promise<ApiResponse> =>
  site.call("login", {
    as: "nobody",
    body: { email, password, siteId: site.id },
    headers: { "CF-Connecting-IP": `2001:db8::${randomHex(2)}` },
  });

const bearerOf = async (email: string) => ({ Authorization: `Bearer ${(await signIn(email)).as(Tokens).jwt}` });

async function tokenOf(accountId: string): Promise<string> {
  const proofs = await db.select().from(emailProofs).where(eq(emailProofs.accountId, accountId)).orderBy(emailProofs.id);
  return signContent(env, "email verification", proofs.at(-1)?.id ?? "");
}

const verify = (body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  site.call("verifyEmail", { as: "client", body, headers });

const rowOf = async (id: string) => (await db.select().from(accounts).where(eq(accounts.id, id)))[0];

describe("verifying the address of an account that someone else created", () => {
  test("is rejected with the token alone, which stays valid", async () => {
    const { _id } = await signUp();
    const token = await tokenOf(_id);
    expect((await verify({ token })).problem).toMatchObject(REJECTED);
    const stranger = await signUp();
    expect((await verify({ token }, await bearerOf(stranger.email))).problem).toMatchObject(REJECTED);
    expect(await rowOf(_id)).toMatchObject({ emailVerified: null, trusted: false });
    expect((await verify({ token, password: PASSWORD })).status).toBe(200);
  });

  test("with a new password takes the account over, and voids the previous credentials", async () => {
    const { _id, email } = await signUp();
    const headers = await bearerOf(email);
    await db.insert(totpSecrets).values({ accountId: _id, siteId: site.id, secretSealed: "x", confirmed: 1, lastStep: 0, created: 1 });
    const token = await tokenOf(_id);
    expect((await verify({ token, newPassword: OWN_PASSWORD })).body).toEqual({ success: true });
    expect((await signIn(email)).status).toBe(401);
    expect((await site.call("getAccount", { as: "client", params: { id: _id }, headers })).status).toBe(401);
    expect((await signIn(email, OWN_PASSWORD)).status).toBe(200);
    expect(await rowOf(_id)).toMatchObject({ trusted: true });
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const types = results.filter(({ resource }) => resource === `account/${_id}`).map(({ type }) => type);
    expect(types).toEqual(["new_account", "account.passwordChanged", "account.emailVerified", "account.credentialsVoided"]);
    expect((await verify({ token, newPassword: PASSWORD })).problem).toMatchObject({ status: 400, issues: [{ path: "token" }] });
  });

  test("rejects a wrong password, and counts it as a failed sign-in", async () => {
    const { _id } = await signUp();
    const token = await tokenOf(_id);
    const codes = [];
    for (let guesses = 0; guesses < 6; guesses += 1) codes.push((await verify({ token, password: "a-wrong-guess" })).status);
    expect(codes).toEqual([400, 400, 400, 400, 400, 429]);
    expect(await rowOf(_id)).toMatchObject({ emailVerified: null });
  });

  test("rejects a current and a new password together, and a short new one for an account with roles", async () => {
    const { _id } = await signUp();
    const token = await tokenOf(_id);
    expect(await verify({ token, password: PASSWORD, newPassword: OWN_PASSWORD })).toMatchObject({ status: 400, fields: ["newPassword"] });
    await db
      .update(accounts)
      .set({ roles: [ADMIN] })
      .where(eq(accounts.id, _id));
    expect(await verify({ token, newPassword: "only-nine" })).toMatchObject({ status: 400, fields: ["newPassword"] });
  });

  test("needs no password for a signed-in account, or one whose credentials staff have set", async () => {
    const { _id, email } = await signUp();
    expect((await verify({ token: await tokenOf(_id) }, await bearerOf(email))).status).toBe(200);
    const staffEmail = `${randomHex(6)}@people.example`;
    const { _id: staffAccountId } = (
      await site.call("upsertAccount", { body: { email: staffEmail, name: "Vera", password: PASSWORD } })
    ).as(Account);
    await site.call("requestEmailVerification", { as: "client", body: { email: staffEmail } });
    expect((await verify({ token: await tokenOf(staffAccountId) })).status).toBe(200);
  });

  test("doesn't set a new password if the address has been verified in the meantime", async () => {
    const { _id, email } = await signUp();
    const token = await tokenOf(_id);
    await db.update(accounts).set({ emailVerified: 1 }).where(eq(accounts.id, _id));
    expect((await verify({ token, newPassword: OWN_PASSWORD })).problem?.code).toBe("conflict");
    expect((await signIn(email)).status).toBe(200);
  });
});

describe("a third-party sign-in planted by a key without roles:write", () => {
  const plant = async (id: string) => {
    const headers = { "Tifo-Developer-Key": await site.addKey(["account:write"]) };
    const links = [{ provider: "club-app", accountId: randomHex(6) }];
    await site.call("updateAccount", { as: "client", headers, params: { id }, body: { name: "Planted", thirdPartyAuthProviders: links } });
  };

  test.for<[string, (account: Awaited<ReturnType<typeof signUp>>) => Promise<ApiResponse>]>([
    ["the address is verified", async ({ _id, email }) => verify({ token: await tokenOf(_id) }, await bearerOf(email))],
    ["a new password is set by email", async ({ _id }) => verify({ token: await tokenOf(_id), newPassword: OWN_PASSWORD })],
  ])("is voided when the account gets a role, even if %s", async ([, prove]) => {
    const account = await signUp();
    await plant(account._id);
    expect((await prove(account)).status).toBe(200);
    await site.call("setRoles", { params: { id: account._id }, body: { roles: [ADMIN] } });
    expect(await rowOf(account._id)).toMatchObject({ thirdPartyAuthProviders: [], passwordHash: null });
  });
});
