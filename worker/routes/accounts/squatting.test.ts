import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accountLinks, accounts, emailProofs, intents, passwordResets } from "#db/schema/accounts.ts";
import { tvCodes } from "#db/schema/commerce/access-codes.ts";
import { registerInvites } from "#db/schema/invites.ts";
import type { AccountRole } from "#db/types.ts";
import { type ApiResponse, newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { openMailbox } from "#test/mailbox.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { upsertAccount } from "#worker/services/accounts/accounts.ts";
import { acceptRegisterInvite } from "#worker/services/invites/register-invites.ts";
import { setRoles } from "#worker/services/accounts/roles.ts";
import { TvCode } from "#worker/services/access-codes/schemas.ts";
import { Tokens } from "#worker/services/auth/schemas.ts";
import { RegisterInvite } from "#worker/services/invites/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

// A squatter signs up with someone else's address and waits for the site to grant it roles.

const db = createDb(siteStore);
const ADMIN: AccountRole = { scope: "*", pageId: [], write: true };
const OWN_PASSWORD = "the-owner-chose-this";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newEmail = (): string => `${randomHex(6)}@people.example`;

const signIn = (email: string, password = PASSWORD, on = site): Promise<ApiResponse> =>
  on.call("login", {
    as: "nobody",
    body: { email, password, siteId: on.id },
    headers: { "CF-Connecting-IP": `2001:db8::${randomHex(2)}` },
  });

const signUp = async (email: string, on = site) =>
  (await on.call("createAccount", { body: { email, password: PASSWORD, name: "Squatter" } })).as(Account);

/** The account of a squatter who is signed in. */
async function squat(email = newEmail(), on = site) {
  const account = await signUp(email, on);
  const { jwt, refreshToken } = (await signIn(email, PASSWORD, on)).as(Tokens);
  return { id: account._id, email, jwt, refreshToken };
}

type Squatter = Awaited<ReturnType<typeof squat>>;

/** Which of the squatter's credentials still work. */
async function workingCredentials({ id, email, jwt, refreshToken }: Squatter, on = site): Promise<string[]> {
  const bearer = { Authorization: `Bearer ${jwt}` };
  const attempts: Record<string, ApiResponse> = {
    password: await signIn(email, PASSWORD, on),
    session: await on.call("getAccount", { as: "client", params: { id }, headers: bearer }),
    refresh: await on.call("refreshTokens", { as: "nobody", body: { refreshToken } }),
  };
  return Object.entries(attempts).flatMap(([credential, { status }]) => (status === 200 ? [credential] : []));
}

const upsert = (body: Record<string, unknown>, on = site): Promise<ApiResponse> =>
  on.call("upsertAccount", { body: { name: "Olga Owner", ...body } });

const grantRoles = (id: string, roles: AccountRole[] = [ADMIN], on = site): Promise<ApiResponse> =>
  on.call("setRoles", { params: { id }, body: { roles } });

const rowOf = async (id: string) => (await db.select().from(accounts).where(eq(accounts.id, id)))[0];

/** The token in the email that lets the owner choose a password. */
async function newPasswordToken(accountId: string): Promise<string> {
  const resets = await db.select().from(passwordResets).where(eq(passwordResets.accountId, accountId)).orderBy(passwordResets.id);
  return signContent(env, "password reset", resets.at(-1)?.id ?? "");
}

const choosePassword = (token: string, on = site): Promise<ApiResponse> =>
  on.call("resetPassword", { body: { token, password: OWN_PASSWORD } });

const GRANTS: [verb: string, grant: (person: Squatter) => Promise<ApiResponse>][] = [
  ["setRoles", ({ id }) => grantRoles(id)],
  ["upsertAccount", ({ email }) => upsert({ email, roles: [ADMIN] })],
  ["upsertAccount in another case", ({ email }) => upsert({ email: email.toUpperCase(), roles: [ADMIN] })],
];

describe("granting a role to an account that signed up with an unverified address", () => {
  test.for(GRANTS)("through %s ends the squatter's sessions and password, and mails the owner", async ([, grant]) => {
    const mails = openMailbox();
    const stranger = await squat();
    expect(await workingCredentials(stranger)).toEqual(["password", "session", "refresh"]);
    const { jwt } = (await signIn(stranger.email)).as(Tokens);
    expect((await grant(stranger)).status).toBe(200);
    expect(await workingCredentials({ ...stranger, jwt })).toEqual([]);
    expect(await rowOf(stranger.id)).toMatchObject({ roles: [ADMIN], passwordHash: null, emailVerified: null });

    const token = await newPasswordToken(stranger.id);
    await site.call("listEvents");
    const mail = mails.find(({ subject }) => subject.startsWith("Choose a new password"));
    expect(mail?.to).toBe(stranger.email);
    expect(mail?.text).toContain(`https://demo.example/?token=${token}&purpose=new-password`);
    const { text } = await site.call("listEvents", { query: { limit: 200 } });
    expect(text).not.toContain(token.split(".")[1]);

    expect((await choosePassword(token)).status).toBe(200);
    expect((await signIn(stranger.email, OWN_PASSWORD)).status).toBe(200);
    expect((await site.call("getAccount", { params: { id: stranger.id } })).as(Account)).toMatchObject({
      emailVerified: true,
      roles: [ADMIN],
    });
    expect((await choosePassword(token)).status).toBe(400);
  });

  test("also voids the squatter's links, intents, TV codes, resets and invitations", async () => {
    const { id, email, jwt } = await squat();
    const bearer = { Authorization: `Bearer ${jwt}` };
    await site.call("updateAccount", {
      params: { id },
      body: { name: "Squatter", thirdPartyAuthProviders: [{ provider: "club-app", accountId: randomHex(6) }] },
    });
    const intent = randomHex(20) + "abc";
    const times = { created: Date.now(), expires: Date.now() + 600_000 };
    const data = { service: "club-app-ios", thirdPartyAccountId: "fan" };
    await db
      .insert(intents)
      .values({ id: newId(1), siteId: site.id, hash: await sha256(intent), kind: "partner", accountId: id, data, ...times });
    const deviceId = `tv-${randomHex(4)}`;
    const device = { "Tifo-Device-Id": deviceId };
    const { code } = (await site.call("createTvCode", { as: "client", body: { deviceId } })).as(TvCode);
    await site.call("activateTvCode", { as: "client", body: { code }, headers: bearer });
    expect(await db.$count(tvCodes, and(eq(tvCodes.siteId, site.id), eq(tvCodes.accountId, id)))).toBe(1);
    await db.insert(registerInvites).values({
      ...{ id: newId(2), siteId: site.id, email: newEmail(), senderAccountId: id, targetRoles: [ADMIN], bySender: true, sent: true },
      ...{ redirectUri: "https://demo.example/", created: 1, modified: 1, expires: times.expires },
    });
    await site.call("askPasswordReset", { body: { email, baseUrl: "https://demo.example/reset" } });
    const reset = await newPasswordToken(id);

    await grantRoles(id);
    expect(await db.$count(accountLinks, eq(accountLinks.accountId, id))).toBe(0);
    expect((await rowOf(id))?.thirdPartyAuthProviders).toEqual([]);
    expect((await site.call("consumeIntent", { as: "client", params: { token: intent } })).status).toBe(404);
    const polled = await site.call("pollTvCode", { as: "client", params: { code }, headers: device });
    expect(polled.body).toMatchObject({ status: "expired" });
    expect((await choosePassword(reset)).status).toBe(400);
    const [invite] = await db.select().from(registerInvites).where(eq(registerInvites.senderAccountId, id));
    expect(invite?.revokedAt).not.toBeNull();
  });

  test("keeps the password and links that staff set in the same request, and sends no email", async () => {
    const stranger = await squat();
    const link = { provider: "club-app", accountId: randomHex(6) };
    const roles = [ADMIN];
    const response = await upsert({ email: stranger.email, roles, password: OWN_PASSWORD, thirdPartyAuthProviders: [link] });
    expect(response.as(Account)).toMatchObject({ roles, thirdPartyAuthProviders: [link], emailVerified: false });
    expect(await workingCredentials(stranger)).toEqual([]);
    expect((await signIn(stranger.email, OWN_PASSWORD)).status).toBe(200);
    expect(await db.$count(passwordResets, eq(passwordResets.accountId, stranger.id))).toBe(0);
  });

  test("keeps the credentials of an account that staff created, or whose password staff have set since", async () => {
    const created = (await upsert({ email: newEmail(), password: PASSWORD })).as(Account);
    const stranger = await squat();
    await upsert({ email: stranger.email, password: OWN_PASSWORD });
    expect(await workingCredentials(stranger)).toEqual([]);
    for (const id of [created._id, stranger.id]) await grantRoles(id);
    expect((await signIn(created.email)).status).toBe(200);
    expect((await signIn(stranger.email, OWN_PASSWORD)).status).toBe(200);
    expect((await site.call("getAccount", { params: { id: created._id } })).as(Account).emailVerified).toBe(false);
  });

  test("keeps the credentials of an account whose address is already verified", async () => {
    const { id, email } = await squat();
    const [proof] = await db.select().from(emailProofs).where(eq(emailProofs.accountId, id));
    const token = await signContent(env, "email verification", proof?.id ?? "");
    await site.call("verifyEmail", { as: "client", body: { token, password: PASSWORD } });
    await grantRoles(id);
    expect((await signIn(email)).status).toBe(200);
  });

  test("sends one email: a second role voids nothing more, and the mailed link stays valid", async () => {
    const { id, email } = await squat();
    await grantRoles(id, [{ ...ADMIN, write: false }]);
    const token = await newPasswordToken(id);
    await grantRoles(id, []);
    await upsert({ email, roles: [ADMIN] });
    expect(await db.$count(passwordResets, eq(passwordResets.accountId, id))).toBe(1);
    expect((await choosePassword(token)).status).toBe(200);
  });

  test("voids nothing when roles are revoked or unchanged", async () => {
    const stranger = await squat();
    await db
      .update(accounts)
      .set({ roles: [ADMIN] })
      .where(eq(accounts.id, stranger.id));
    await grantRoles(stranger.id, [{ ...ADMIN, write: false }]);
    await upsert({ email: stranger.email, roles: [{ ...ADMIN, pageId: [site.channels[0]], write: false }] });
    expect(await workingCredentials(stranger)).toEqual(["password", "session", "refresh"]);
  });

  test("treats an address as unverified again once staff have changed it", async () => {
    const person = await site.addAccount(`mover-${randomHex(4)}`, []);
    const email = newEmail();
    await site.call("updateAccount", { params: { id: person.id }, body: { name: "Mover", email } });
    await grantRoles(person.id);
    expect((await signIn(email)).status).toBe(401);
  });

  test("voids a password or link set by a key that can't grant roles, also on a verified account", async () => {
    const key = { "Tifo-Developer-Key": await site.addKey(["account:write"]) };
    const planted = (operationId: string, body: Record<string, unknown>, id = "") =>
      site.call(operationId, { as: "client", headers: key, params: { id }, body: { name: "Planted", ...body } });
    const [person, other] = [await site.addAccount(`plain-${randomHex(4)}`, []), await site.addAccount(`plain-${randomHex(4)}`, [])];
    expect((await planted("upsertAccount", { email: person.email, password: "the-key-holder-knows" })).status).toBe(200);
    const links = { thirdPartyAuthProviders: [{ provider: "club-app", accountId: randomHex(6) }] };
    expect((await planted("updateAccount", links, other.id)).status).toBe(200);
    const fresh = (await planted("upsertAccount", { email: newEmail(), password: "the-key-holder-knows" })).as(Account);
    for (const id of [person.id, other.id, fresh._id]) {
      await grantRoles(id);
      expect(await rowOf(id)).toMatchObject({ passwordHash: null, thirdPartyAuthProviders: [] });
    }
    expect((await rowOf(person.id))?.emailVerified).not.toBeNull();
    expect((await choosePassword(await newPasswordToken(person.id))).status).toBe(200);
    expect((await rowOf(person.id))?.trusted).toBe(true);
  });

  test("keeps the credentials of an account without an address", async () => {
    const person = await site.addAccount(`guest-${randomHex(4)}`, []);
    await db
      .update(accounts)
      .set({ email: `${person.id}@no-mail.invalid`, emailVerified: null })
      .where(eq(accounts.id, person.id));
    const headers = { Authorization: `Bearer ${await site.signIn(person)}` };
    await grantRoles(person.id);
    expect((await site.call("getAccount", { as: "client", params: { id: person.id }, headers })).status).toBe(200);
  });
});

describe("a sign-up during a grant, between its read and its write", () => {
  test("gains nothing from an upsert", async () => {
    const email = newEmail();
    let stranger: Squatter | undefined;
    const meanwhile = async () => {
      stranger ??= await squat(email);
    };
    const account = await upsertAccount(interruptedContext(site, meanwhile), { email, name: "Olga", roles: [ADMIN] });
    expect(account).toMatchObject({ id: stranger?.id, roles: [ADMIN], passwordHash: null });
    expect(stranger && (await workingCredentials(stranger))).toEqual([]);
  });

  test("gains nothing from a role change by changing its password in between", async () => {
    const stranger = await squat();
    let changed = false;
    const meanwhile = async () => {
      if (changed) return;
      changed = true;
      await site.call("changePassword", {
        as: "client",
        body: { oldPassword: PASSWORD, password: "another-of-the-stranger" },
        headers: { Authorization: `Bearer ${stranger.jwt}` },
      });
    };
    await expect(setRoles(interruptedContext(site, meanwhile), stranger.id, [ADMIN])).rejects.toMatchObject({ code: "conflict" });
    expect(await rowOf(stranger.id)).toMatchObject({ roles: [] });
  });
});

describe("an invitation by email to a squatted address", () => {
  const invite = async (email: string): Promise<string> => {
    const body = { email, senderAccountId: site.accounts.admin.id, targetRoles: [ADMIN] };
    const { _id } = (await site.call("createRegisterInvite", { body })).as(RegisterInvite);
    return signContent(env, "register invite", _id);
  };
  const accept = (token: string): Promise<ApiResponse> =>
    site.call("acceptRegisterInvite", { as: "client", params: { token }, body: { name: "Olga Owner", password: OWN_PASSWORD } });

  test.for(["before the invitation is sent", "after the invitation was sent"])(
    "takes over the account of a squatter who signed up %s",
    async (when) => {
      const email = newEmail();
      const early = when === "before the invitation is sent" ? await squat(email) : undefined;
      const token = await invite(email.toUpperCase());
      const stranger = early ?? (await squat(email));
      const account = (await accept(token)).as(Account);
      expect(account).toMatchObject({ _id: stranger.id, email, name: "Olga Owner", roles: [ADMIN], emailVerified: true });
      expect(await workingCredentials(stranger)).toEqual([]);
      expect((await signIn(email, OWN_PASSWORD)).status).toBe(200);
      const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
      const types = results.filter(({ resource }) => resource === `account/${stranger.id}`).map(({ type }) => type);
      expect(types).toEqual(["new_account", "account.updated", "account.emailVerified", "account.credentialsVoided"]);
    },
  );

  test("takes over the account of a squatter who signs up while it is being accepted", async () => {
    const email = newEmail();
    const token = await invite(email);
    let stranger: Squatter | undefined;
    let queries = 0;
    const meanwhile = async () => {
      // The second query comes after the account was looked up.
      queries += 1;
      if (queries === 2) stranger = await squat(email);
    };
    const account = await acceptRegisterInvite(interruptedContext(site, meanwhile), token, { name: "Olga", password: OWN_PASSWORD });
    expect(account).toMatchObject({ id: stranger?.id, roles: [ADMIN] });
    expect(stranger && (await workingCredentials(stranger))).toEqual([]);
    expect((await signIn(email, OWN_PASSWORD)).status).toBe(200);
  });

  test("adds to the roles that the owner got in the meantime, and creates a verified account otherwise", async () => {
    const email = newEmail();
    const token = await invite(email);
    const moderator: AccountRole = { scope: "Chat_Moderator", pageId: [site.channels[0]], write: true };
    await upsert({ email, roles: [moderator] });
    expect((await accept(token)).as(Account).roles).toEqual([moderator, ADMIN]);
    expect((await accept(await invite(newEmail()))).as(Account).emailVerified).toBe(true);
  });
});
