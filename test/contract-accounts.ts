import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createDb } from "#db/client.ts";
import { accounts, emailProofs, globalAccounts, intents, passwordResets, sessions, totpSecrets } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { hashPassword, randomToken, seal, sha256 } from "#worker/lib/crypto/crypto.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { newTotpSecret, totpCode } from "#worker/lib/crypto/totp.ts";
import { GLOBAL_AUDIENCE, signToken } from "#worker/services/auth/tokens.ts";
import { type CallOptions, PASSWORD, type TestSite } from "./harness.ts";
import type { Operation } from "./openapi.ts";
import { directory, siteStore } from "#test/site-store.ts";

// Live values for the account operations: passwords, tokens of resets and intents, a partner's JWT.

const db = createDb(siteStore);
const HOUR = 3_600_000;
const PARTNER = { name: "club-app", jwksUrl: "https://keys.club-app.example/jwks.json", audience: "contract" };

const hash = hashPassword(PASSWORD);
const pair = generateKeyPair("EdDSA", { extractable: true });

/** Body fields, created for each request. */
export const ACCOUNT_FIELDS: Record<string, (site: TestSite, operation: Operation) => Promise<unknown>> = {
  oldPassword: async (site) => {
    await db
      .update(accounts)
      .set({ passwordHash: await hash, passwordVersion: 1 })
      .where(eq(accounts.siteId, site.id));
    return PASSWORD;
  },
  token: (site, { operationId }) => {
    if (operationId === "verifyEmail") return newEmailProof(site, "verify");
    if (operationId === "confirmGlobalAccount") return newEmailProof(site, "global");
    return newReset(site, operationId === "resetGlobalPassword");
  },
  jwt: (site) => partnerToken(site),
};

/** Complete calls by operation: those on an authenticator app, which every account without roles gets in the state that they need. */
export const ACCOUNT_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  beginTotp: async (site) => {
    await db.delete(totpSecrets).where(eq(totpSecrets.siteId, site.id));
    return { body: { password: PASSWORD } };
  },
  confirmTotp: async (site) => {
    const secret = newTotpSecret();
    await newApps(site, secret, null);
    return { body: { code: totpCode(secret, Date.now()) } };
  },
  disableTotp: async (site) => {
    await newApps(site, newTotpSecret(), Date.now());
    return { body: { password: PASSWORD } };
  },
};

/** Adds an app to each account without roles, except the viewer, whose sign-ins other operations need. */
async function newApps(site: TestSite, secret: string, confirmed: number | null): Promise<void> {
  const people = await db.select({ id: accounts.id, roles: accounts.roles }).from(accounts).where(eq(accounts.siteId, site.id));
  const viewers = people.filter(({ id, roles }) => roles.length === 0 && id !== site.accounts.viewer.id);
  await Promise.all(viewers.map(({ id }) => newApp(site, id, secret, confirmed)));
}

/** Creates an account with an authenticator app that an admin can remove. */
export async function enrolledAccount(site: TestSite): Promise<string> {
  const { id } = await site.addAccount(`app-${randomHex(6)}`, []);
  await newApp(site, id, newTotpSecret(), Date.now());
  return id;
}

async function newApp(site: TestSite, accountId: string, secret: string, confirmed: number | null): Promise<void> {
  const row = { secretSealed: await seal(env, "totp secret", secret), confirmed, lastStep: 0, created: Date.now() };
  await db
    .insert(totpSecrets)
    .values({ ...row, accountId, siteId: site.id })
    .onConflictDoUpdate({ target: totpSecrets.accountId, set: row });
}

/** A token that resets the password of a new account, or of a new global account linked to it. */
async function newReset(site: TestSite, global: boolean): Promise<string> {
  const { id: siteAccountId } = await site.addAccount(`reset-${randomHex(6)}`, []);
  const accountId = global ? await newGlobalAccount() : siteAccountId;
  if (global) await db.update(accounts).set({ globalAccountId: accountId }).where(eq(accounts.id, siteAccountId));
  const times = { created: Date.now(), expires: Date.now() + HOUR };
  const id = newId(Date.now());
  const audience = global ? GLOBAL_AUDIENCE : site.id;
  await db
    .insert(passwordResets)
    .values({ id, siteId: site.id, audience, accountId, passwordVersion: 1, baseUrl: "https://demo.example/reset", ...times });
  return signContent(env, "password reset", id);
}

const TOKEN_PURPOSES = { verify: "email verification", global: "global account" };

/** The token of an email to a new admin, whose address is verified already if a global account requires it. */
async function newEmailProof(site: TestSite, purpose: keyof typeof TOKEN_PURPOSES): Promise<string> {
  const { id: accountId, email } = await site.addAccount(`proof-${randomHex(6)}`, [{ scope: "*", pageId: [], write: false }]);
  if (purpose === "verify") await db.update(accounts).set({ emailVerified: null }).where(eq(accounts.id, accountId));
  const id = newId(Date.now());
  const times = { created: Date.now(), expires: Date.now() + HOUR };
  await db.insert(emailProofs).values({ id, siteId: site.id, accountId, purpose, emailHash: await sha256(email), baseUrl: "", ...times });
  return signContent(env, TOKEN_PURPOSES[purpose], id);
}

/** An intent that signs the viewer in. */
export async function newIntentToken(site: TestSite): Promise<string> {
  const token = randomToken();
  await db.insert(intents).values({
    id: newId(Date.now()),
    siteId: site.id,
    hash: await sha256(token),
    kind: "partner",
    accountId: site.accounts.viewer.id,
    data: { service: "club-app-ios", thirdPartyAccountId: "fan-0417" },
    created: Date.now(),
    expires: Date.now() + HOUR,
  });
  return token;
}

/** The JWT of a new global account without sites. */
export async function globalToken(): Promise<string> {
  const [accountId, sessionId] = [await newGlobalAccount(), newId(Date.now())];
  const times = { created: Date.now(), expires: Date.now() + HOUR };
  await directory.insert(sessions).values({ id: sessionId, audience: GLOBAL_AUDIENCE, accountId, generation: 1, ...times });
  return signToken(env, { accountId, audience: GLOBAL_AUDIENCE, sessionId, passwordVersion: 1 }, Date.now());
}

async function newGlobalAccount(): Promise<string> {
  const id = newId(Date.now());
  const stamps = { created: Date.now(), modified: Date.now() };
  await directory.insert(globalAccounts).values({ id, email: `${randomHex(6)}@admins.example`, passwordHash: await hash, ...stamps });
  return id;
}

/** A JWT signed by a partner that the site has registered. */
async function partnerToken(site: TestSite): Promise<string> {
  const settings = sql`json_set(${sites.settings}, '$.security.providers', json(${JSON.stringify([PARTNER])}))`;
  await db.update(sites).set({ settings }).where(eq(sites.id, site.id));
  const { privateKey } = await pair;
  return new SignJWT({})
    .setProtectedHeader({ alg: "EdDSA" })
    .setAudience(PARTNER.audience)
    .setSubject("fan-0417")
    .setExpirationTime("5m")
    .sign(privateKey);
}

const realFetch = globalThis.fetch;

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    return url === PARTNER.jwksUrl ? Response.json({ keys: [await exportJWK((await pair).publicKey)] }) : realFetch(input, init);
  },
});
