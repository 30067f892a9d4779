import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, globalAccounts, passwordResets } from "#db/schema/accounts.ts";
import { sentMails } from "#db/schema/custom-email.ts";
import { type ApiResponse, newSite, ORIGIN, PASSWORD, type TestAccount, type TestSite } from "#test/harness.ts";
import type { LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { hashPassword } from "#worker/lib/crypto/crypto.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { mailReset } from "#worker/services/accounts/passwords.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { directory, siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const BASE_URL = "https://demo.example/reset?step=2";
const NEW_PASSWORD = "a-new-one-to-keep";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newPerson = (on = site): Promise<TestAccount> => on.addAccount(`person-${randomHex(4)}`, []);

const requestReset = (email: string, { baseUrl = BASE_URL, on = site, operationId = "askPasswordReset" } = {}): Promise<ApiResponse> =>
  on.call(operationId, { body: { email, baseUrl } });

const redeemReset = (token: string, { password = NEW_PASSWORD, on = site, operationId = "resetPassword" } = {}): Promise<ApiResponse> =>
  on.call(operationId, { body: { token, password } });

const signIn = (email: string, password: string, on = site): Promise<ApiResponse> =>
  on.call("login", {
    as: "nobody",
    body: { email, password, siteId: on.id },
    headers: { "CF-Connecting-IP": `2001:db8::${randomHex(2)}` },
  });

const refresh = (refreshToken: string): Promise<ApiResponse> => site.call("refreshTokens", { as: "nobody", body: { refreshToken } });

const readOwnAccount = (id: string, jwt: string): Promise<ApiResponse> =>
  site.call("getAccount", { as: "client", params: { id }, headers: { Authorization: `Bearer ${jwt}` } });

/** The last requested reset, with the token from its email. */
async function lastReset(accountId: string): Promise<typeof passwordResets.$inferSelect & { token: string }> {
  const rows = await db.select().from(passwordResets).where(eq(passwordResets.accountId, accountId)).orderBy(passwordResets.created);
  const reset = rows.at(-1);
  if (!reset) throw new Error("No reset was requested");
  return { ...reset, token: await signContent(env, "password reset", reset.id) };
}

/** Simulates that the minimum time between two emails has passed. */
async function skipMailGap(accountId: string): Promise<void> {
  await db
    .update(passwordResets)
    .set({ created: Date.now() - 61_000 })
    .where(eq(passwordResets.accountId, accountId));
}

const invalidToken = { status: 400, code: "invalid_request", issues: [{ path: "token" }] };

describe("requesting a reset", () => {
  test("gives the same response at the same cost whether or not the account exists", async () => {
    const { email, id } = await newPerson();
    // The first request also reads the site.
    await requestReset("first@demo.example");
    const [known, unknown] = [await requestReset(email.toUpperCase()), await requestReset("nobody@demo.example")];
    expect(known.body).toEqual({ success: true });
    expect(unknown.body).toEqual(known.body);
    expect(unknown.log.d1).toEqual(known.log.d1);
    expect([...unknown.headers.keys()]).toEqual([...known.headers.keys()]);
    expect(await lastReset(id)).toMatchObject({ siteId: site.id, audience: site.id, used: null });
  });

  test("mails a link to the given page, valid for an hour, and neither stores nor publishes the token", async () => {
    const { email, id } = await newPerson();
    await requestReset(email);
    const { results } = (await site.call("listEvents", { query: { types: "account.passwordResetRequested" } })).as(EventList);
    const event = results.at(-1);
    const { token, ...reset } = await lastReset(id);
    expect(reset.expires - reset.created).toBe(3_600_000);
    expect(event?.data).toEqual({ _id: reset.id, siteId: site.id, accountId: id, kind: "site" });
    expect(JSON.stringify(reset)).not.toContain(token.split(".")[1]);
    const sent = await db
      .select()
      .from(sentMails)
      .where(and(eq(sentMails.siteId, site.id), eq(sentMails.eventId, event?.id ?? "")));
    expect(sent.map((mail) => mail.template)).toEqual(["reset"]);
    const [mail] = await mailsOf(reset.id);
    expect(mail).toMatchObject({ to: email });
    expect(mail?.text).toContain(`https://demo.example/reset?step=2&token=${token}`);
  });

  test("sends at most one email per person and minute", async () => {
    const { email, id } = await newPerson();
    await Promise.all([requestReset(email), requestReset(email), requestReset(email)]);
    const count = () => db.$count(passwordResets, eq(passwordResets.accountId, id));
    expect(await count()).toBe(1);
    await skipMailGap(id);
    await requestReset(email);
    expect(await count()).toBe(2);
  });

  test.for([
    "https://evil.example/reset",
    "https://user:secret@demo.example/",
    "http://demo.example/",
    "http://localhost:8787/",
    "javascript:alert(1)",
  ])("rejects a link to %s", async (baseUrl) => {
    const { email, id } = await newPerson();
    expect((await requestReset(email, { baseUrl })).problem).toMatchObject({ status: 400, issues: [{ path: "baseUrl" }] });
    expect(await db.$count(passwordResets, eq(passwordResets.accountId, id))).toBe(0);
  });

  test("may open Studio's own page for the kind of account, and no other page of the deployment", async () => {
    const { email } = await newPerson();
    const to = async (baseUrl: string, operationId?: string) =>
      (await requestReset(email, { baseUrl, ...(operationId !== undefined && { operationId }) })).status;
    const page = `/studio/reset?site=${site.id}`;
    expect(await to(ORIGIN + page)).toBe(200);
    for (const other of ["/studio", "/studio/reset", `/studio/join?site=${site.id}`, `${page}&token=x`, `${page}#x`])
      expect(await to(ORIGIN + other)).toBe(400);
    expect(await to(`https://evil.example${page}`)).toBe(400);
    const globalPage = `/studio/reset-global?site=${site.id}`;
    expect(await to(ORIGIN + globalPage, "askGlobalPasswordReset")).toBe(200);
    expect(await to(ORIGIN + page, "askGlobalPasswordReset")).toBe(400);
    expect(await to(ORIGIN + globalPage)).toBe(400);
  });

  test("sends no email for a reset that has been used in the meantime", async () => {
    const { email, id } = await newPerson();
    await requestReset(email);
    const { token, id: resetId } = await lastReset(id);
    await redeemReset(token);
    expect(await mailsOf(resetId)).toEqual([]);
  });

  test("sends no email for a reset that has expired, or that a new password has voided", async () => {
    const [late, changed] = [await newPerson(), await newPerson()];
    for (const { email } of [late, changed]) await requestReset(email);
    const [expired, voided] = [await lastReset(late.id), await lastReset(changed.id)];
    await db
      .update(passwordResets)
      .set({ expires: Date.now() - 1 })
      .where(eq(passwordResets.id, expired.id));
    await site.call("upsertAccount", { body: { email: changed.email, name: "Changed", password: NEW_PASSWORD } });
    for (const { id } of [expired, voided]) expect(await mailsOf(id)).toEqual([]);
  });

  test.for(["https://evil.example/win", "You won! www.evil.example", "two\nlines"])(
    "doesn't use %j as the name in the email",
    async (name) => {
      const { email, id } = await newPerson();
      await db.update(accounts).set({ name }).where(eq(accounts.id, id));
      await requestReset(email);
      const [mail] = await mailsOf((await lastReset(id)).id);
      expect(mail?.text).toContain("Hello there,");
      for (const part of [mail?.text, mail?.html]) expect(part).not.toContain(name);
    },
  );
});

/** The emails that the effect sends when it runs (again) for a reset. */
async function mailsOf(resetId: string, on = site): Promise<EmailMessageBuilder[]> {
  const sent: EmailMessageBuilder[] = [];
  const EMAIL: Pick<SendEmail, "send"> = {
    send: (message: EmailMessageBuilder | EmailMessage) => {
      if ("subject" in message) sent.push(message);
      return Promise.resolve({ messageId: "test" });
    },
  };
  const event: LoggedEvent<"account.passwordResetRequested"> = {
    id: randomHex(12),
    type: "account.passwordResetRequested",
    created: Date.now(),
    sequence: 1,
    previousSequence: null,
    resource: `password-reset/${resetId}`,
    data: JSON.stringify({ _id: resetId }),
    actor: "anonymous",
    requestId: "test",
    origin: null,
  };
  await mailReset({ ...env, EMAIL }, on.id, event);
  return sent;
}

describe("a reset token", () => {
  test("sets the password and ends every session", async () => {
    const { email, id } = await newPerson();
    const before = (await signIn(email, PASSWORD)).as(Tokens);
    await requestReset(email);
    expect((await redeemReset((await lastReset(id)).token)).body).toEqual({ success: true });
    expect((await readOwnAccount(id, before.jwt)).status).toBe(401);
    expect((await refresh(before.refreshToken)).status).toBe(401);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
    const after = (await signIn(email, NEW_PASSWORD)).as(Tokens);
    expect((await refresh(after.refreshToken)).status).toBe(200);
  });

  test("works once, also in concurrent requests", async () => {
    const { email, id } = await newPerson();
    await requestReset(email);
    const { token } = await lastReset(id);
    const responses = await Promise.all([
      redeemReset(token, { password: "first-of-them" }),
      redeemReset(token, { password: "second-of-them" }),
    ]);
    expect(responses.map((response) => response.status).sort()).toEqual([200, 400]);
    expect((await redeemReset(token)).problem).toMatchObject(invalidToken);
    const won = responses[0].status === 200 ? "first-of-them" : "second-of-them";
    expect((await signIn(email, won)).status).toBe(200);
  });

  test("is void after an hour, after a password change, and after a change of address", async () => {
    const [late, overtaken, moved] = [await newPerson(), await newPerson(), await newPerson()];
    for (const { email } of [late, overtaken, moved]) await requestReset(email);
    await db.update(passwordResets).set({ expires: Date.now() }).where(eq(passwordResets.accountId, late.id));
    expect((await redeemReset((await lastReset(late.id)).token)).problem).toMatchObject(invalidToken);

    const older = await lastReset(overtaken.id);
    await skipMailGap(overtaken.id);
    await requestReset(overtaken.email);
    const newer = (await db.select().from(passwordResets).where(eq(passwordResets.accountId, overtaken.id))).find(
      (reset) => reset.id !== older.id,
    );
    expect((await redeemReset(await signContent(env, "password reset", newer?.id ?? ""))).status).toBe(200);
    expect((await redeemReset(older.token)).problem).toMatchObject(invalidToken);

    const { token } = await lastReset(moved.id);
    await site.call("updateAccount", { params: { id: moved.id }, body: { name: "Moved", email: `${randomHex(4)}@new.example` } });
    expect((await redeemReset(token)).problem).toMatchObject(invalidToken);
  });

  test("is only valid for its site and kind, with a valid signature", async () => {
    const { email, id } = await newPerson();
    await requestReset(email);
    const { token, id: resetId } = await lastReset(id);
    const other = await newSite();
    const forged = await signContent({ TIFO_SECRET: "another secret" }, "password reset", resetId);
    const ofAnotherPurpose = await signContent(env, "refresh", resetId);
    expect((await redeemReset(token, { on: other })).problem).toMatchObject(invalidToken);
    expect((await redeemReset(token, { operationId: "resetGlobalPassword" })).problem).toMatchObject(invalidToken);
    for (const wrong of [forged, ofAnotherPurpose, `${resetId}.`, resetId, "."])
      expect((await redeemReset(wrong)).problem).toMatchObject(invalidToken);
    expect((await redeemReset(token, { password: "short" })).problem).toMatchObject({ issues: [{ path: "password" }] });
    expect((await redeemReset(token)).status).toBe(200);
  });
});

describe("changing your own password", () => {
  const changeTo = (jwt: string, oldPassword: string, password = NEW_PASSWORD): Promise<ApiResponse> =>
    site.call("changePassword", { as: "client", body: { password, oldPassword }, headers: { Authorization: `Bearer ${jwt}` } });

  test("ends every session and returns the tokens of a new one", async () => {
    const { email, id } = await newPerson();
    const [here, elsewhere] = [(await signIn(email, PASSWORD)).as(Tokens), (await signIn(email, PASSWORD)).as(Tokens)];
    const now = (await changeTo(here.jwt, PASSWORD)).as(Tokens);
    for (const old of [here, elsewhere]) {
      expect((await readOwnAccount(id, old.jwt)).status).toBe(401);
      expect((await refresh(old.refreshToken)).status).toBe(401);
    }
    expect((await readOwnAccount(id, now.jwt)).status).toBe(200);
    expect((await refresh(now.refreshToken)).status).toBe(200);
    expect((await signIn(email, NEW_PASSWORD)).status).toBe(200);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
  });

  test("requires the old password, and counts wrong ones as failed sign-ins", async () => {
    const { email } = await newPerson();
    const { jwt } = (await signIn(email, PASSWORD)).as(Tokens);
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect((await changeTo(jwt, "wrong")).problem).toMatchObject({ status: 400, issues: [{ path: "oldPassword" }] });
    expect((await changeTo(jwt, PASSWORD)).problem?.code).toBe("rate_limited");
  });

  test("succeeds for one of two concurrent requests with the same old password", async () => {
    const { email } = await newPerson();
    const { jwt } = (await signIn(email, PASSWORD)).as(Tokens);
    const responses = await Promise.all([changeTo(jwt, PASSWORD, "first-of-them"), changeTo(jwt, PASSWORD, "second-of-them")]);
    expect(responses.filter((response) => response.status === 200)).toHaveLength(1);
    const won = responses[0].status === 200 ? "first-of-them" : "second-of-them";
    expect((await signIn(email, won)).status).toBe(200);
  });

  test("fails for an account without a password, which can set one with a reset", async () => {
    const { email, id } = await newPerson();
    const { jwt } = (await signIn(email, PASSWORD)).as(Tokens);
    await db.update(accounts).set({ passwordHash: null }).where(eq(accounts.id, id));
    expect((await changeTo(jwt, PASSWORD)).status).toBe(400);
    await requestReset(email);
    expect((await redeemReset((await lastReset(id)).token)).status).toBe(200);
    expect((await signIn(email, NEW_PASSWORD)).status).toBe(200);
  });
});

describe("resetting a global account", () => {
  test("sets only the global password, with an email from a site that the account administers", async () => {
    const [one, two, foreign] = [await newSite(), await newSite(), await newSite()];
    const email = `${randomHex(6)}@admins.example`;
    const id = newId(Date.now());
    const passwordHash = await hashPassword(PASSWORD);
    await directory.insert(globalAccounts).values({ id, email, passwordHash, created: 1, modified: 1 });
    for (const on of [one, two]) {
      const roles = [{ scope: "*", pageId: [], write: true }];
      await on.call("upsertAccount", { body: { email, name: "Gil", password: PASSWORD, roles } });
      await db
        .update(accounts)
        .set({ globalAccountId: id })
        .where(and(eq(accounts.siteId, on.id), eq(accounts.email, email)));
    }
    const globalSignIn = (password: string) => one.call("login", { as: "nobody", body: { email, password } });
    const before = (await globalSignIn(PASSWORD)).as(Tokens);

    const requesting = { operationId: "askGlobalPasswordReset" };
    await requestReset("first@demo.example", { ...requesting, on: two });
    const [mine, theirs] = [
      await requestReset(email, { ...requesting, on: two }),
      await requestReset("nobody@demo.example", { ...requesting, on: two }),
    ];
    expect(theirs.body).toEqual(mine.body);
    expect(theirs.log.d1).toEqual(mine.log.d1);
    const { token, id: resetId } = await lastReset(id);
    expect((await mailsOf(resetId, two)).map((mail) => mail.to)).toEqual([email]);

    const redeeming = { operationId: "resetGlobalPassword", on: two };
    expect((await redeemReset(token, { on: two })).problem).toMatchObject(invalidToken);
    expect((await redeemReset(token, redeeming)).status).toBe(200);
    expect((await redeemReset(token, redeeming)).problem).toMatchObject(invalidToken);
    expect((await globalSignIn(PASSWORD)).status).toBe(401);
    expect((await globalSignIn(NEW_PASSWORD)).status).toBe(200);
    expect((await refresh(before.refreshToken)).status).toBe(401);
    expect((await signIn(email, PASSWORD, one)).status).toBe(200);

    const [here] = await db
      .select()
      .from(accounts)
      .where(and(eq(accounts.siteId, two.id), eq(accounts.email, email)));
    const types = "account.passwordResetRequested,account.passwordChanged";
    const { results } = (await two.call("listEvents", { query: { types } })).as(EventList);
    expect(results).toMatchObject([
      { resource: `password-reset/${resetId}`, data: { _id: resetId, siteId: two.id, accountId: here?.id, kind: "global" } },
      { resource: `account/${here?.id}`, data: { _id: here?.id, siteId: two.id, kind: "global" } },
    ]);

    await skipMailGap(id);
    await requestReset(email, { ...requesting, on: foreign });
    expect(await db.$count(passwordResets, eq(passwordResets.accountId, id))).toBe(1);
  });
});
