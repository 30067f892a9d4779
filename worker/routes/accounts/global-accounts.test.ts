import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, emailProofs, globalAccounts } from "#db/schema/accounts.ts";
import type { AccountRole } from "#db/types.ts";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { openMailbox } from "#test/mailbox.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { CreatedSite } from "#worker/services/sites/schemas.ts";
import { Account, GlobalAccount, GlobalSite } from "#worker/services/accounts/schemas.ts";
import { directory, siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const GLOBAL_PASSWORD = "the-global-password";
const GlobalSites = listOf(GlobalSite);

let one: TestSite;
let two: TestSite;

beforeAll(async () => {
  [one, two] = [await newSite(), await newSite()];
});

const newEmail = (): string => `${randomHex(6)}@admins.example`;

async function addAdmin(on: TestSite, email: string, roles: AccountRole[] = [ADMIN], password = PASSWORD): Promise<Account> {
  return (await on.call("upsertAccount", { body: { email, name: "Gil", password, roles } })).as(Account);
}

type Account = ReturnType<typeof Account.parse>;

const read = async (on: TestSite, { _id: id }: Account): Promise<Account> => (await on.call("getAccount", { params: { id } })).as(Account);
const setRoles = (on: TestSite, { _id: id }: Account, roles: AccountRole[]): Promise<ApiResponse> =>
  on.call("setRoles", { params: { id }, body: { roles } });
const globalsOf = (email: string) => directory.select().from(globalAccounts).where(eq(globalAccounts.email, email));
const signIn = (email: string, password = GLOBAL_PASSWORD): Promise<ApiResponse> =>
  one.call("login", { as: "nobody", body: { email, password }, headers: { "CF-Connecting-IP": `2001:db8::${randomHex(2)}` } });

/** Adds an admin with a verified address. */
async function addVerifiedAdmin(on: TestSite, email: string, roles: AccountRole[] = [ADMIN]): Promise<Account> {
  const account = await addAdmin(on, email, roles);
  await db.update(accounts).set({ emailVerified: 1 }).where(eq(accounts.id, account._id));
  return account;
}

async function requestGlobal(on: TestSite, { email }: Account, body: Record<string, unknown> = {}): Promise<ApiResponse> {
  const signedIn = await on.call("login", { as: "nobody", body: { email, password: PASSWORD, siteId: on.id } });
  const headers = { Authorization: `Bearer ${signedIn.as(Tokens).jwt}` };
  return on.call("requestGlobalAccount", { as: "client", body, headers });
}

async function tokenOf({ _id }: Account): Promise<string> {
  const proofs = await db.select().from(emailProofs).where(eq(emailProofs.accountId, _id)).orderBy(emailProofs.id);
  return signContent(env, "global account", proofs.filter(({ purpose }) => purpose === "global").at(-1)?.id ?? "");
}

const confirm = (on: TestSite, token: string, password = GLOBAL_PASSWORD): Promise<ApiResponse> =>
  on.call("confirmGlobalAccount", { as: "client", body: { token, password } });

/** Opts in on a site; returns the account there. */
async function optIn(on: TestSite, email: string): Promise<Account> {
  const account = await addVerifiedAdmin(on, email);
  await requestGlobal(on, account);
  expect((await confirm(on, await tokenOf(account))).status).toBe(200);
  return read(on, account);
}

describe("a global account", () => {
  test("is created when its owner opts in, with its own password, which then links further sites", async () => {
    const mails = openMailbox();
    const email = newEmail();
    const first = await addVerifiedAdmin(one, email);
    expect((await requestGlobal(one, first, { baseUrl: "https://demo.example/global" })).body).toEqual({ success: true });
    await one.call("listEvents");
    const token = await tokenOf(first);
    expect(mails.at(-1)).toMatchObject({ to: email });
    expect(mails.at(-1)?.text).toContain(`https://demo.example/global?token=${token}`);
    expect(await globalsOf(email)).toEqual([]);
    const created = (await confirm(one, token)).as(GlobalAccount);
    expect(created.email).toBe(email);
    expect((await read(one, first)).globalAccountID).toBe(created._id);
    expect((await signIn(email)).status).toBe(200);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
    expect((await confirm(one, token)).problem).toMatchObject({ status: 400, issues: [{ path: "token" }] });
    expect((await requestGlobal(one, first)).problem?.code).toBe("conflict");

    const second = await addVerifiedAdmin(two, email);
    await requestGlobal(two, second);
    const next = await tokenOf(second);
    expect((await confirm(two, next, "not-its-password")).problem).toMatchObject({ status: 400, issues: [{ path: "password" }] });
    expect((await read(two, second)).globalAccountID).toBeNull();
    expect((await confirm(two, next)).as(GlobalAccount)._id).toBe(created._id);
    expect((await read(two, second)).globalAccountID).toBe(created._id);
    const { text } = await two.call("listEvents", { query: { limit: 200 } });
    for (const secret of [token, next]) expect(text).not.toContain(secret.split(".")[1]);
  });

  test("is never linked or revealed by upserts, role changes, new sites or changes of address", async () => {
    const email = newEmail();
    const own = await optIn(one, email);
    const before = await read(one, own);
    const theirs = await addAdmin(two, email);
    expect(theirs.globalAccountID).toBeNull();
    const elsewhere = await addVerifiedAdmin(two, newEmail());
    await two.call("deleteAccount", { params: { id: theirs._id } });
    const moved = await two.call("updateAccount", { params: { id: elsewhere._id }, body: { name: "Gil", email } });
    expect(moved.as(Account).globalAccountID).toBeNull();
    await setRoles(two, elsewhere, []);
    expect((await setRoles(two, elsewhere, [ADMIN])).status).toBe(200);
    const admin = { email, password: PASSWORD, name: "Gil" };
    const created = await one.call("createSite", { body: { name: "Third", slug: `third-${randomHex(6)}`, admin } });
    expect(created.as(CreatedSite).admin.globalAccountID).toBeNull();
    expect(await read(one, own)).toEqual(before);
    expect(await globalsOf(email)).toHaveLength(1);
    const rows = await db.select().from(accounts).where(eq(accounts.email, email));
    expect(rows.filter(({ globalAccountId }) => globalAccountId !== null).map(({ id }) => id)).toEqual([own._id]);
  });

  test("can't be created by staff who only set a password: the address must be verified and the email read", async () => {
    const email = newEmail();
    const row = await addAdmin(two, email);
    const rejected = await requestGlobal(two, row);
    expect([rejected.status, rejected.problem?.code]).toEqual([403, "email_not_verified"]);
    await db.update(accounts).set({ emailVerified: 1 }).where(eq(accounts.id, row._id));
    expect((await requestGlobal(two, row)).status).toBe(200);
    expect(await globalsOf(email)).toEqual([]);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
  });

  test("requires an admin of the site, also on confirmation", async () => {
    const viewer = await addVerifiedAdmin(one, newEmail(), []);
    expect((await requestGlobal(one, viewer)).problem?.code).toBe("forbidden");
    const admin = await addVerifiedAdmin(one, newEmail());
    await requestGlobal(one, admin);
    await setRoles(one, admin, []);
    expect((await confirm(one, await tokenOf(admin))).status).toBe(400);
  });

  test("rejects a token for another purpose, from another site, or from before a change of address", async () => {
    const email = newEmail();
    const account = await addVerifiedAdmin(one, email);
    await requestGlobal(one, account);
    const token = await tokenOf(account);
    const id = token.split(".")[0] ?? "";
    expect((await confirm(two, token)).status).toBe(400);
    for (const purpose of ["email verification", "password reset"])
      expect((await confirm(one, await signContent(env, purpose, id))).status).toBe(400);
    expect((await one.call("verifyEmail", { as: "client", body: { token } })).status).toBe(400);
    const move = (address: string) => one.call("updateAccount", { params: { id: account._id }, body: { name: "Gil", email: address } });
    await move(newEmail());
    await move(email);
    expect((await confirm(one, token)).status).toBe(400);
  });

  test("is created once when two sites confirm concurrently", async () => {
    const email = newEmail();
    const [first, second] = [await addVerifiedAdmin(one, email), await addVerifiedAdmin(two, email)];
    await Promise.all([requestGlobal(one, first), requestGlobal(two, second)]);
    const responses = await Promise.all([confirm(one, await tokenOf(first)), confirm(two, await tokenOf(second))]);
    for (const { status } of responses) expect([200, 409]).toContain(status);
    expect(await globalsOf(email)).toHaveLength(1);
    if (responses[1].status === 409) expect((await confirm(two, await tokenOf(second))).status).toBe(200);
  });

  test("is unlinked from a site's account whose address changes, even if it changes back", async () => {
    const email = newEmail();
    const [first, second] = [await optIn(one, email), await optIn(two, email)];
    const move = (address: string) => two.call("updateAccount", { params: { id: second._id }, body: { name: "Gil", email: address } });
    expect((await move(newEmail())).as(Account).globalAccountID).toBeNull();
    expect((await move(email)).as(Account).globalAccountID).toBeNull();
    expect((await read(one, first)).globalAccountID).not.toBeNull();
  });

  test("without any linked site is linked again by the email alone", async () => {
    const email = newEmail();
    const first = await optIn(one, email);
    const before = (await signIn(email)).as(Tokens);
    await one.call("updateAccount", { params: { id: first._id }, body: { name: "Gil", email: newEmail() } });
    const second = await addVerifiedAdmin(two, email);
    await requestGlobal(two, second);
    expect((await confirm(two, await tokenOf(second), "another-one-chosen")).as(GlobalAccount)._id).toBe(first.globalAccountID);
    expect((await signIn(email)).status).toBe(401);
    expect((await signIn(email, "another-one-chosen")).status).toBe(200);
    expect((await one.call("refreshTokens", { as: "nobody", body: { refreshToken: before.refreshToken } })).status).toBe(401);
  });

  test("is deleted with the last account linked to it, or by its owner", async () => {
    const [email, other] = [newEmail(), newEmail()];
    const [first, second] = [await optIn(one, email), await optIn(two, email)];
    await one.call("deleteAccount", { params: { id: first._id } });
    expect(await globalsOf(email)).toHaveLength(1);
    await two.call("deleteAccount", { params: { id: second._id } });
    expect(await globalsOf(email)).toEqual([]);

    const linked = await optIn(one, other);
    const { jwt, refreshToken } = (await signIn(other)).as(Tokens);
    const headers = { Authorization: `Bearer ${jwt}` };
    const remove = () => one.call("deleteGlobalAccount", { as: "nobody", headers });
    expect((await remove()).body).toEqual({ success: true, _id: linked.globalAccountID });
    expect((await remove()).status).toBe(401);
    expect((await one.call("refreshTokens", { as: "nobody", body: { refreshToken } })).status).toBe(401);
    expect((await read(one, linked)).globalAccountID).toBeNull();
    const site = { Authorization: `Bearer ${await one.signIn(one.accounts.admin)}` };
    expect((await one.call("deleteGlobalAccount", { as: "nobody", headers: site })).problem?.code).toBe("forbidden");
  });
});

describe("a global account's sites", () => {
  const list = (headers: Record<string, string>, query = {}): Promise<ApiResponse> =>
    one.call("listGlobalSites", { as: "nobody", headers, query });

  test("are those that it administers, and can be searched by slug", async () => {
    const email = newEmail();
    const [first, second] = [await optIn(one, email), await optIn(two, email)];
    const headers = { Authorization: `Bearer ${(await signIn(email)).as(Tokens).jwt}` };
    const all = (await list(headers)).as(GlobalSites);
    const expected = [
      { _id: first._id, siteId: one.id, slug: one.slug },
      { _id: second._id, siteId: two.id, slug: two.slug },
    ].sort((left, right) => (left.slug < right.slug ? -1 : 1));
    expect(all.results).toEqual(expected);
    expect(all.pagination.totalCount).toBe(2);
    expect((await list(headers, { search: one.slug })).as(GlobalSites).results.map((row) => row.siteId)).toEqual([one.id]);
    const page = (await list(headers, { limit: 1 })).as(GlobalSites);
    expect(page.results).toEqual(expected.slice(0, 1));
    const next = new URL(page.pagination.next ?? "", "https://tifo.test").searchParams;
    expect((await list(headers, Object.fromEntries(next))).as(GlobalSites).results).toEqual(expected.slice(1));
    await setRoles(one, first, []);
    expect((await list(headers)).as(GlobalSites).results.map((row) => row.siteId)).toEqual([two.id]);
  });

  test("are all listed for the operator, and forbidden for a sign-in to one site", async () => {
    const email = newEmail();
    const joined = [await optIn(one, email), await optIn(two, email)].map((account) => account._id);
    const operator = (await list(await one.headersOf("super"), { search: one.slug, limit: 200 })).as(GlobalSites);
    expect(operator.results.map((row) => row._id)).toContain(joined[0]);
    expect((await list({ Authorization: `Bearer ${await one.signIn(one.accounts.admin)}` })).problem?.code).toBe("forbidden");
  });
});

test("confirming a global account requires effective roles: an admin without the required authenticator app has none", async () => {
  const strict = await newSite();
  const account = await addVerifiedAdmin(strict, newEmail());
  await requestGlobal(strict, account);
  const token = await tokenOf(account);
  const body = { name: "Strict", settings: { security: { requireStaffTotp: true } } };
  expect((await strict.call("updateSite", { body })).status).toBe(200);
  expect((await confirm(strict, token)).problem).toMatchObject({ status: 400, issues: [{ path: "token" }] });
  expect(await globalsOf(account.email)).toEqual([]);
});
