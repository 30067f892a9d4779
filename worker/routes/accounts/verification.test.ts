import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, emailProofs } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { openMailbox } from "#test/mailbox.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Site } from "#worker/services/sites/schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const PAGE = "https://demo.example/verify?step=2";
const INVALID_TOKEN = { status: 400, code: "invalid_request", issues: [{ path: "token" }] };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newEmail = (): string => `${randomHex(6)}@people.example`;

async function signUp(change: Record<string, unknown> = {}, on = site) {
  const body = { email: newEmail(), password: PASSWORD, name: "Vera", ...change };
  return (await on.call("createAccount", { body })).as(Account);
}

const verify = (token: string, on = site): Promise<ApiResponse> =>
  on.call("verifyEmail", { as: "client", body: { token, password: PASSWORD } });

const request = (body: Record<string, unknown>, headers: Record<string, string> = {}, on = site): Promise<ApiResponse> =>
  on.call("requestEmailVerification", { as: "client", body, headers });

const signIn = (email: string, on = site): Promise<ApiResponse> =>
  on.call("login", {
    as: "nobody",
    body: { email, password: PASSWORD, siteId: on.id },
    headers: { "CF-Connecting-IP": `2001:db8::${randomHex(2)}` },
  });

const isVerified = async (id: string, on = site): Promise<boolean> =>
  (await on.call("getAccount", { params: { id } })).as(Account).emailVerified;

const proofsOf = (accountId: string) => db.select().from(emailProofs).where(eq(emailProofs.accountId, accountId)).orderBy(emailProofs.id);

/** The token of the last verification email. */
async function tokenOf(accountId: string): Promise<string> {
  const proof = (await proofsOf(accountId)).at(-1);
  if (!proof) throw new Error("No verification was requested");
  return signContent(env, "email verification", proof.id);
}

/** Simulates that the minimum time between two emails has passed. */
async function skipMailGap(accountId: string): Promise<void> {
  await db
    .update(emailProofs)
    .set({ created: Date.now() - 61_000 })
    .where(eq(emailProofs.accountId, accountId));
}

async function requireVerified(on: TestSite): Promise<void> {
  const security = { allowedOrigins: ["https://demo.example"], allowNewAdmins: true, requireVerifiedEmail: true, providers: [] };
  await db.update(sites).set({ settings: { security } }).where(eq(sites.id, on.id));
}

describe("a sign-up", () => {
  test("mails a link that verifies the address once", async () => {
    const mails = openMailbox();
    const person = await signUp({ baseUrl: PAGE });
    expect(person.emailVerified).toBe(false);
    await site.call("listEvents");
    const mail = mails.find(({ to }) => to === person.email);
    const link = /https:\/\/demo\.example\/verify\?step=2&token=(\S+)/.exec(mail?.text ?? "");
    const token = decodeURIComponent(link?.[1] ?? "");
    expect(token).toBe(await tokenOf(person._id));
    expect((await verify(token)).body).toEqual({ success: true });
    expect(await isVerified(person._id)).toBe(true);
    expect((await verify(token)).problem).toMatchObject(INVALID_TOKEN);
    const { results } = (await site.call("listEvents", { query: { types: "account.emailVerified" } })).as(EventList);
    expect(results.at(-1)?.data).toEqual({ _id: person._id, siteId: site.id, by: "mail" });
  });

  test("mails a link to the site's first origin and a code if it names no page", async () => {
    const mails = openMailbox();
    const person = await signUp();
    await site.call("listEvents");
    const token = await tokenOf(person._id);
    const mail = mails.find(({ to }) => to === person.email);
    expect(mail?.text).toContain(`https://demo.example/?token=${token}&purpose=verify-email`);
    expect(mail?.text).toContain(`enter this one: ${token}`);
    expect(mail?.html).toContain(token);
  });

  test("mails only a code on a site without origins", async () => {
    const own = await newSite();
    await own.call("updateSite", { body: { name: "Bare" } });
    const mails = openMailbox();
    const person = await signUp({}, own);
    await own.call("listEvents");
    const token = await tokenOf(person._id);
    expect(mails[0]?.text).toContain(`Enter this code when you are asked for it: ${token}`);
    expect(mails[0]?.html).not.toContain("href");
    expect((await verify(token, own)).status).toBe(200);
  });

  test.for(["https://evil.example/verify", "https://user:secret@demo.example/"])("rejects a page at %s", async (baseUrl) => {
    const email = newEmail();
    const response = await site.call("createAccount", { body: { email, password: PASSWORD, name: "Vera", baseUrl } });
    expect(response.problem).toMatchObject({ status: 400, issues: [{ path: "baseUrl" }] });
    expect(await db.$count(accounts, eq(accounts.email, email))).toBe(0);
  });

  test("neither stores nor publishes the token", async () => {
    const person = await signUp();
    const token = await tokenOf(person._id);
    const { text } = await site.call("listEvents", { query: { limit: 200 } });
    const rows = JSON.stringify(await proofsOf(person._id));
    for (const place of [text, rows]) expect(place).not.toContain(token.split(".")[1]);
  });
});

describe("a verification token", () => {
  test("works once, also in concurrent requests", async () => {
    const { _id } = await signUp();
    const token = await tokenOf(_id);
    const responses = await Promise.all([verify(token), verify(token), verify(token)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  test("is only valid for its site and purpose, with a valid signature, for a day", async () => {
    const { _id } = await signUp();
    const token = await tokenOf(_id);
    const id = token.split(".")[0] ?? "";
    expect((await verify(token, await newSite())).problem).toMatchObject(INVALID_TOKEN);
    const forged = await signContent({ TIFO_SECRET: "another secret" }, "email verification", id);
    for (const wrong of [forged, await signContent(env, "password reset", id), await signContent(env, "global account", id), id, "."])
      expect((await verify(wrong)).problem).toMatchObject(INVALID_TOKEN);
    await db
      .update(emailProofs)
      .set({ expires: Date.now() - 1 })
      .where(eq(emailProofs.id, id));
    expect((await verify(token)).problem).toMatchObject(INVALID_TOKEN);
    expect(await isVerified(_id)).toBe(false);
  });

  test("is void after a change of address, as is an earlier verification", async () => {
    const [moved, proven] = [await signUp(), await signUp()];
    const stale = await tokenOf(moved._id);
    await verify(await tokenOf(proven._id));
    const move = (id: string, email: string) => site.call("updateAccount", { params: { id }, body: { name: "Vera", email } });
    for (const { _id } of [moved, proven]) expect((await move(_id, newEmail())).as(Account).emailVerified).toBe(false);
    expect((await verify(stale)).problem).toMatchObject(INVALID_TOKEN);
    await move(moved._id, moved.email);
    expect((await verify(stale)).problem).toMatchObject(INVALID_TOKEN);
    await move(proven._id, proven.email);
    expect(await isVerified(proven._id)).toBe(false);
  });

  test("stays valid when only the case of the address changes", async () => {
    const person = await signUp();
    const email = person.email.toUpperCase();
    await site.call("updateAccount", { params: { id: person._id }, body: { name: "Vera", email } });
    expect((await verify(await tokenOf(person._id))).status).toBe(200);
  });
});

describe("requesting a verification email", () => {
  test("gives the same response at the same cost whether or not the account exists", async () => {
    const [open, done] = [await signUp(), await signUp()];
    await verify(await tokenOf(done._id));
    await skipMailGap(open._id);
    await request({ email: newEmail() });
    const responses = [];
    for (const email of [open.email.toUpperCase(), done.email, newEmail()]) responses.push(await request({ email }));
    for (const response of responses) {
      expect(response.body).toEqual({ success: true });
      expect(response.log.d1).toEqual(responses[0]?.log.d1);
      expect([...response.headers.keys()]).toEqual([...(responses[0]?.headers.keys() ?? [])]);
    }
    expect(await proofsOf(open._id)).toHaveLength(2);
    expect(await proofsOf(done._id)).toHaveLength(1);
  });

  test("requires an address without a bearer token, and uses the caller's own with one", async () => {
    expect(await request({})).toMatchObject({ status: 400, fields: ["email"] });
    const [person, other] = [await signUp(), await signUp()];
    for (const { _id } of [person, other]) await skipMailGap(_id);
    const { jwt } = (await signIn(person.email)).as(Tokens);
    expect((await request({ email: other.email }, { Authorization: `Bearer ${jwt}` })).body).toEqual({ success: true });
    expect(await proofsOf(person._id)).toHaveLength(2);
    expect(await proofsOf(other._id)).toHaveLength(1);
    expect((await verify(await tokenOf(person._id))).status).toBe(200);
  });

  test("sends an account at most one email a minute and ten a day", async () => {
    const { _id, email } = await signUp();
    await Promise.all([request({ email }), request({ email })]);
    expect(await proofsOf(_id)).toHaveLength(1);
    for (let mails = 0; mails < 12; mails += 1) {
      await skipMailGap(_id);
      await request({ email });
    }
    expect(await proofsOf(_id)).toHaveLength(10);
  });

  test("is limited per address", async () => {
    const headers = { "CF-Connecting-IP": `2001:db8:${randomHex(2)}::1` };
    for (let mails = 0; mails < 60; mails += 1) expect((await request({ email: newEmail() }, headers)).status).toBe(200);
    expect((await request({ email: newEmail() }, headers)).problem?.code).toBe("rate_limited");
  });

  test("rejects a page that the site doesn't allow", async () => {
    expect(await request({ email: newEmail(), baseUrl: "https://evil.example/" })).toMatchObject({ status: 400, fields: ["baseUrl"] });
  });
});

describe("a site that requires verified addresses", () => {
  test("rejects a sign-in without one, and says so only if the password is right", async () => {
    const own = await newSite();
    const person = await signUp({}, own);
    expect((await signIn(person.email, own)).status).toBe(200);
    await requireVerified(own);
    const unverified = await signIn(person.email, own);
    expect([unverified.status, unverified.problem?.code]).toEqual([403, "email_not_verified"]);
    const guess = { email: person.email, password: "not-the-password", siteId: own.id };
    expect((await own.call("login", { as: "nobody", body: guess })).problem?.code).toBe("unauthenticated");
    await verify(await tokenOf(person._id), own);
    expect((await signIn(person.email, own)).status).toBe(200);
  });

  test("enables that in its settings, where it is off by default", async () => {
    const own = await newSite();
    const { settings } = (await own.call("updateSite", { body: { name: "Own" } })).as(Site);
    expect(settings).toMatchObject({ security: { requireVerifiedEmail: false } });
    const body = { name: "Own", settings: { security: { requireVerifiedEmail: true } } };
    expect((await own.call("updateSite", { body })).status).toBe(200);
    const person = await signUp({}, own);
    expect((await signIn(person.email, own)).problem?.code).toBe("email_not_verified");
  });
});

test("a password reset verifies the address", async () => {
  const { _id, email } = await signUp();
  const [row] = await db
    .select()
    .from(accounts)
    .where(and(eq(accounts.siteId, site.id), eq(accounts.id, _id)));
  expect(row?.emailVerified).toBeNull();
  await site.call("askPasswordReset", { body: { email, baseUrl: PAGE } });
  const { results } = (await site.call("listEvents", { query: { types: "account.passwordResetRequested" } })).as(EventList);
  const token = await signContent(env, "password reset", String(results.at(-1)?.data._id));
  expect((await site.call("resetPassword", { body: { token, password: "a-new-one-to-keep" } })).status).toBe(200);
  expect(await isVerified(_id)).toBe(true);
});
