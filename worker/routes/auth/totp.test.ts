import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, recoveryCodes, sessions, totpSecrets } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import type { AccountRole } from "#db/types.ts";
import { exhaustLimit } from "#test/limit-usage.ts";
import { type ApiResponse, type CallOptions, newSite, PASSWORD, type TestAccount, type TestSite } from "#test/harness.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { totpCode } from "#worker/lib/crypto/totp.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { RecoveryCodes, Tokens, Totp, TotpSecret } from "#worker/services/auth/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MODERATOR: AccountRole = { scope: "Chat_Moderator", pageId: [], write: true };
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const STEP = 30_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newStaff = (on = site): Promise<TestAccount> => on.addAccount(`staff-${randomHex(5)}`, [MODERATOR]);

function signIn(email: string, more: { totp?: string; password?: string } = {}, on = site): Promise<ApiResponse> {
  const headers = { "CF-Connecting-IP": `2001:db8:${randomHex(2)}::1` };
  return on.call("login", { as: "nobody", body: { email, password: PASSWORD, siteId: on.id, ...more }, headers });
}

async function as(jwt: string, operationId: string, options: CallOptions = {}, on = site): Promise<ApiResponse> {
  const headers = { Authorization: `Bearer ${jwt}`, "CF-Connecting-IP": `2001:db8:${randomHex(2)}::1` };
  return on.call(operationId, { ...options, as: "client", headers });
}

interface Enrolled {
  account: TestAccount;
  jwt: string;
  secret: string;
  codes: string[];
}

/** Adds an account with an authenticator app, whose current code is still unused. */
async function enroll(account?: TestAccount, on = site): Promise<Enrolled> {
  const person = account ?? (await newStaff(on));
  const { jwt } = (await signIn(person.email, {}, on)).as(Tokens);
  const { secret } = (await as(jwt, "beginTotp", { body: { password: PASSWORD } }, on)).as(TotpSecret);
  const confirmed = await as(jwt, "confirmTotp", { body: { code: totpCode(secret, Date.now()) } }, on);
  await resetUsedStep(person);
  return { account: person, jwt, secret, codes: confirmed.as(RecoveryCodes).recoveryCodes };
}

/** Makes the current code usable again. */
async function resetUsedStep({ id }: TestAccount): Promise<void> {
  await db.update(totpSecrets).set({ lastStep: 0 }).where(eq(totpSecrets.accountId, id));
}

const outcome = ({ status, problem }: ApiResponse) => [status, problem?.code];
const REQUIRED = [401, "totp_required"];

describe("an authenticator app", () => {
  test("is required only after a correct password", async () => {
    const { account, secret } = await enroll();
    expect(outcome(await signIn(account.email))).toEqual(REQUIRED);
    expect(outcome(await signIn(account.email, { password: "wrong" }))).toEqual([401, "unauthenticated"]);
    expect(outcome(await signIn(account.email, { password: "wrong", totp: totpCode(secret, Date.now()) }))).toEqual([
      401,
      "unauthenticated",
    ]);
    expect((await signIn(account.email, { totp: totpCode(secret, Date.now()) })).status).toBe(200);
  });

  test("can be confirmed only after its setup has begun, and removed only once it is confirmed", async () => {
    const { jwt } = (await signIn((await newStaff()).email)).as(Tokens);
    const messages = async () => [
      (await as(jwt, "confirmTotp", { body: { code: "123456" } })).problem?.message,
      (await as(jwt, "disableTotp", { body: { code: "123456" } })).problem?.message,
    ];
    expect(await messages()).toEqual(["There is no secret to confirm; start the setup first", "No authenticator app is set up"]);
    await as(jwt, "beginTotp", { body: { password: PASSWORD } });
    expect(await messages()).toEqual(["The code is incorrect", "No authenticator app is set up"]);
  });

  test("isn't required until a code has confirmed it", async () => {
    const account = await newStaff();
    const { jwt } = (await signIn(account.email)).as(Tokens);
    const begun = await as(jwt, "beginTotp", { body: { password: PASSWORD } });
    expect(begun.status).toBe(201);
    expect(begun.as(TotpSecret).uri).toContain(begun.as(TotpSecret).secret);
    expect((await signIn(account.email)).status).toBe(200);
    const wrong = await as(jwt, "confirmTotp", { body: { code: "000000" } });
    expect([wrong.status, wrong.fields]).toEqual([400, ["code"]]);
    expect((await as(jwt, "getTotp")).as(Totp)).toEqual({ enabled: false, required: false, confirmedAt: null, recoveryCodes: 0 });
  });

  test("accepts each code once, also in concurrent sign-ins", async () => {
    const { account, secret } = await enroll();
    const totp = totpCode(secret, Date.now());
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await signIn(account.email, { totp })).status));
    expect(statuses.sort()).toEqual([200, 401, 401, 401]);
    const replayed = await signIn(account.email, { totp });
    expect(replayed.problem?.message).toBe("The code is incorrect or already used");
    // An older code is rejected too: the used one may have been of the following step.
    await db
      .update(totpSecrets)
      .set({ lastStep: Math.floor(Date.now() / STEP) + 1 })
      .where(eq(totpSecrets.accountId, account.id));
    expect(outcome(await signIn(account.email, { totp: totpCode(secret, Date.now()) }))).toEqual(REQUIRED);
  });

  test("can be replaced by each recovery code once, in any case", async () => {
    const { account, jwt, codes } = await enroll();
    const [first = "", second = ""] = codes;
    expect(codes).toHaveLength(10);
    expect(first).toMatch(/^([2-9A-Z]{4}-){3}[2-9A-Z]{4}$/);
    const both = await Promise.all([signIn(account.email, { totp: first }), signIn(account.email, { totp: first })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await signIn(account.email, { totp: second.toLowerCase().replaceAll("-", " ") })).status).toBe(200);
    expect((await as(jwt, "getTotp")).as(Totp)).toMatchObject({ enabled: true, recoveryCodes: 8 });
    const other = await enroll();
    expect(outcome(await signIn(account.email, { totp: other.codes[0] ?? "" }))).toEqual(REQUIRED);
  });

  test("limits guesses of codes with a known password to ten an hour", async () => {
    const { account, secret } = await enroll();
    const guesses = [];
    for (let i = 0; i < 12; i++) guesses.push((await signIn(account.email, { totp: `99999${i % 10}` })).status);
    expect(guesses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(guesses.at(-1)).toBe(429);
    expect((await signIn(account.email, { totp: totpCode(secret, Date.now()) })).status).toBe(429);
  });

  test("ends the account's other sessions when it is confirmed", async () => {
    const account = await newStaff();
    const thief = (await signIn(account.email)).as(Tokens);
    const { jwt } = await enroll(account);
    expect((await as(thief.jwt, "getTotp")).status).toBe(401);
    expect((await site.call("refreshTokens", { as: "nobody", body: { refreshToken: thief.refreshToken } })).status).toBe(401);
    expect((await as(jwt, "getTotp")).status).toBe(200);
  });

  test("can't be set up, replaced or removed with only a stolen session", async () => {
    const { account, jwt, secret } = await enroll();
    const wrong = await as(jwt, "beginTotp", { body: { password: "wrong" } });
    expect([wrong.status, wrong.fields]).toEqual([400, ["password"]]);
    expect((await as(jwt, "beginTotp", { body: { password: PASSWORD } })).problem?.code).toBe("conflict");
    for (const body of [
      { code: "000000" },
      { code: "AAAA-AAAA-AAAA-AAAA" },
      { password: "wrong" },
      {},
      { code: "000000", password: PASSWORD },
    ])
      expect((await as(jwt, "disableTotp", { body })).status).toBe(400);
    expect(outcome(await signIn(account.email))).toEqual(REQUIRED);
    expect((await as(jwt, "disableTotp", { body: { code: totpCode(secret, Date.now()) } })).status).toBe(204);
    expect((await signIn(account.email)).status).toBe(200);
    expect(await db.$count(recoveryCodes, eq(recoveryCodes.accountId, account.id))).toBe(0);
    expect((await as(jwt, "disableTotp", { body: { password: PASSWORD } })).problem?.code).toBe("conflict");
  });

  test("is stored sealed, and its recovery codes as hashes", async () => {
    const { account, secret, codes } = await enroll();
    const [row] = await db.select().from(totpSecrets).where(eq(totpSecrets.accountId, account.id));
    const rows = await db.select().from(recoveryCodes).where(eq(recoveryCodes.accountId, account.id));
    const kept = JSON.stringify([row, rows]);
    for (const text of [secret, ...codes, ...codes.map((code) => code.replaceAll("-", ""))]) expect(kept).not.toContain(text);
  });

  test("can be removed by an admin, and by a key only with roles:write", async () => {
    const { account } = await enroll();
    const params = { id: account.id };
    const headers = { "Tifo-Developer-Key": await site.addKey(["account:write"]) };
    expect((await site.call("resetTotp", { as: "client", params, headers })).status).toBe(403);
    expect((await site.call("resetTotp", { as: "viewer", params })).status).toBe(403);
    expect((await (await newSite()).call("resetTotp", { as: "admin", params })).status).toBe(404);
    expect((await site.call("resetTotp", { as: "admin", params })).status).toBe(204);
    expect((await signIn(account.email)).status).toBe(200);
    expect((await site.call("resetTotp", { as: "admin", params })).status).toBe(409);
  });

  test("emits events without codes", async () => {
    const { account, jwt, codes } = await enroll();
    await signIn(account.email, { totp: codes[0] ?? "" });
    await as(jwt, "disableTotp", { body: { code: codes[1] ?? "" } });
    await env.SITE_LOG.getByName(site.id).nudge();
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const own = results.filter(({ resource }) => resource === `account/${account.id}`);
    expect(own.map(({ type }) => type)).toEqual([
      "account.totpEnabled",
      "account.recoveryCodeUsed",
      "account.recoveryCodeUsed",
      "account.totpDisabled",
    ]);
    for (const { data } of own) expect(data).toEqual({ _id: account.id, siteId: site.id });
  });

  test("emits an event for each of the account's other sessions, which closes their sockets", async () => {
    const account = await newStaff();
    await signIn(account.email);
    const [other] = await db.select({ id: sessions.id }).from(sessions).where(eq(sessions.accountId, account.id));
    await enroll(account);
    await env.SITE_LOG.getByName(site.id).nudge();
    const { results } = (await site.call("listEvents", { query: { types: "account.sessionEnded", limit: 200 } })).as(EventList);
    const own = results.filter(({ resource }) => resource === `account/${account.id}`).map(({ data }) => data);
    expect(own).toEqual([{ _id: account.id, siteId: site.id, sessionId: other?.id, reason: "totpEnabled" }]);
  });
});

describe("on a site that requires an authenticator app for staff", () => {
  test("an account's roles apply only once it has one", async () => {
    const own = await newSite();
    const boss = await own.addAccount("boss", [ADMIN]);
    const before = (await signIn(boss.email, {}, own)).as(Tokens);
    const settings = {
      security: { allowedOrigins: [], allowNewAdmins: true, providers: [], requireVerifiedEmail: false, requireStaffTotp: true },
    };
    await db.update(sites).set({ settings }).where(eq(sites.id, own.id));
    // Both open and new sessions.
    for (const { jwt } of [before, (await signIn(boss.email, {}, own)).as(Tokens)]) {
      expect((await as(jwt, "listAccounts", {}, own)).status).toBe(403);
      expect((await as(jwt, "getTotp", {}, own)).as(Totp)).toMatchObject({ enabled: false, required: true });
    }
    const { jwt } = await enroll(boss, own);
    expect((await as(jwt, "listAccounts", {}, own)).status).toBe(200);
    const { viewer } = own.accounts;
    const asViewer = await as(await own.signIn(viewer), "getTotp", {}, own);
    expect(asViewer.as(Totp)).toMatchObject({ required: false });
  });
});

describe("passwords of accounts with roles", () => {
  const SHORT = "9-letters";

  test.for([
    [
      "a site's first admin",
      "createSite",
      () => ({ body: { name: "New", slug: `new-${randomHex(4)}`, admin: person(SHORT) } }),
      "admin.password",
    ],
    ["an account created with roles", "upsertAccount", () => ({ body: { ...person(SHORT), roles: [MODERATOR] } }), "password"],
    ["an account that has roles", "upsertAccount", () => ({ body: { ...person(SHORT), email: site.accounts.creator.email } }), "password"],
    [
      "an invited admin",
      "acceptRegisterInvite",
      () => ({ params: { token: `5eed00000000000000004e01.${"q".repeat(43)}` }, body: { name: "New", password: SHORT } }),
      "password",
    ],
  ] as const)("need at least ten characters: %s", async ([, operationId, options, path]) => {
    const { status, fields } = await site.call(operationId, options());
    expect([status, fields]).toEqual([400, [path]]);
  });

  test("need at least ten characters when they are changed", async () => {
    const { jwt } = (await signIn((await newStaff()).email)).as(Tokens);
    const change = await as(jwt, "changePassword", { body: { oldPassword: PASSWORD, password: SHORT } });
    expect([change.status, change.fields]).toEqual([400, ["password"]]);
    const viewer = await site.addAccount(`viewer-${randomHex(4)}`, []);
    const theirs = (await signIn(viewer.email)).as(Tokens).jwt;
    expect((await as(theirs, "changePassword", { body: { oldPassword: PASSWORD, password: SHORT } })).status).toBe(200);
  });

  test("can't be used if they are shorter because the roles came later, until they are replaced", async () => {
    const email = `late-${randomHex(4)}@demo.example`;
    await site.call("createAccount", { body: { email, password: SHORT, name: "Late" } });
    expect((await signIn(email, { password: SHORT })).status).toBe(200);
    const which = and(eq(accounts.siteId, site.id), eq(accounts.email, email));
    await db
      .update(accounts)
      .set({ roles: [MODERATOR] })
      .where(which);
    expect(outcome(await signIn(email, { password: SHORT }))).toEqual([403, "password_too_short"]);
    expect(outcome(await signIn(email, { password: "8-letter" }))).toEqual([401, "unauthenticated"]);
    await site.call("upsertAccount", { body: { email, name: "Late", password: PASSWORD } });
    expect((await signIn(email)).status).toBe(200);
  });

  const person = (password: string) => ({ email: `${randomHex(5)}@demo.example`, name: "New", password });
});

test("wrong codes are limited per account, from any address", async () => {
  const { account, secret } = await enroll();
  await exhaustLimit(site.id, "totp", await sha256(`${site.id}\n${account.email}`));
  expect((await signIn(account.email, { totp: totpCode(secret, Date.now()) })).status).toBe(429);
});
