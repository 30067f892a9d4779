import { eq } from "drizzle-orm";
import { decodeJwt, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, intents } from "#db/schema/accounts.ts";
import { type ApiResponse, newSite, PASSWORD, type TestAccount, type TestSite } from "#test/harness.ts";
import { exhaustLimit } from "#test/limit-usage.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { totpCode } from "#worker/lib/crypto/totp.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ConsumedIntent, Intent, Tokens, TotpSecret } from "#worker/services/auth/schemas.ts";
import { siteStore } from "#test/site-store.ts";
import { watchFetch } from "#test/watch-fetch.ts";

const db = createDb(siteStore);
const AUDIENCE = "https://tifo.test/harbour-city";

interface Partner {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

let site: TestSite;
let partner: Partner;
/** The responses of the partners' hosts by URL, and the URLs that were fetched. */
const hosts = new Map<string, () => Response>();
let fetched: string[];

const jwksUrl = `https://keys-${randomHex(6)}.partner.example/jwks.json`;

async function newPartner(alg: string): Promise<Partner> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomHex(6);
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

async function newSiteWith(providers: { name: string; jwksUrl: string; audience: string }[]): Promise<TestSite> {
  const created = await newSite();
  await created.call("updateSite", { body: { name: "Harbour City FC", settings: { security: { providers } } } });
  return created;
}

beforeAll(async () => {
  partner = await newPartner("EdDSA");
  hosts.set(jwksUrl, () => Response.json({ keys: [partner.jwk] }));
  site = await newSiteWith([{ name: "club-app", jwksUrl, audience: AUDIENCE }]);
});

/** An account with an unverified address. */
async function addUnverified(change: { trusted?: boolean } = {}): Promise<TestAccount> {
  const person = await site.addAccount(`known-${randomHex(4)}`, []);
  await db
    .update(accounts)
    .set({ emailVerified: null, trusted: false, ...change })
    .where(eq(accounts.id, person.id));
  return person;
}

beforeEach(() => {
  fetched = watchFetch((url) => hosts.get(url)?.() ?? Promise.reject(new Error(`No host at ${url}`))).urls;
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface PartnerClaims extends JWTPayload {
  email?: string;
  email_verified?: boolean;
}

function sign(
  claims: PartnerClaims,
  { by = partner, expires = "5m" }: { by?: Partner; expires?: string | undefined } = {},
): Promise<string> {
  const token = new SignJWT({ aud: AUDIENCE, ...claims }).setProtectedHeader({ alg: by.alg, kid: by.kid }).setIssuedAt();
  return (expires === "" ? token : token.setExpirationTime(expires)).sign(by.privateKey);
}

const create = (jwt: string, thirdPartyAccountId: string, change: Record<string, unknown> = {}, on = site): Promise<ApiResponse> =>
  on.call("createIntent", {
    body: { jwt, name: "Freya Fan", provider: "club-app", service: "club-app-ios", thirdPartyAccountId, ...change },
  });

const consume = (token: string, on = site): Promise<ApiResponse> => on.call("consumeIntent", { params: { token } });

/** Signs in through the partner, from token to session. */
async function signInByPartner(sub: string, claims: PartnerClaims = {}): Promise<ConsumedIntent & { account: Account }> {
  const { token } = (await create(await sign({ sub, ...claims }), sub)).as(Intent);
  const consumed = (await consume(token)).as(ConsumedIntent);
  const read = await site.call("getAccount", {
    as: "client",
    params: { id: subjectOf(consumed.jwt) },
    headers: { Authorization: `Bearer ${consumed.jwt}` },
  });
  return { ...consumed, account: read.as(Account) };
}

type Account = ReturnType<typeof Account.parse>;

function subjectOf(jwt: string): string {
  return decodeJwt(jwt).sub ?? "";
}

describe("a partner's token", () => {
  test("creates an account and signs it in", async () => {
    const sub = `fan-${randomHex(4)}`;
    const before = Date.now();
    const { token, expiresAt } = (await create(await sign({ sub }), sub)).as(Intent);
    expect(expiresAt - before).toBeGreaterThanOrEqual(10 * 60_000);
    expect(expiresAt - Date.now()).toBeLessThanOrEqual(10 * 60_000);
    const consumed = (await consume(token)).as(ConsumedIntent);
    expect(consumed).toMatchObject({
      authenticated: true,
      service: "club-app-ios",
      siteId: site.id,
      token,
      name: "Freya Fan",
      thirdPartyAccountId: sub,
    });
    const headers = { Authorization: `Bearer ${consumed.jwt}` };
    const account = (await site.call("getAccount", { as: "client", params: { id: subjectOf(consumed.jwt) }, headers })).as(Account);
    expect(account).toMatchObject({ name: "Freya Fan", roles: [], thirdPartyAuthProviders: [{ provider: "club-app", accountId: sub }] });
    expect(account.email).toMatch(/^[0-9a-f]{24}@no-mail\.invalid$/);
    expect(account.lastLogin).not.toBeNull();
    const refreshed = await site.call("refreshTokens", { as: "nobody", body: { refreshToken: consumed.refreshToken } });
    expect(subjectOf(refreshed.as(Tokens).jwt)).toBe(account._id);
  });

  test("signs in to the same account the next time, regardless of name and email address", async () => {
    const sub = `fan-${randomHex(4)}`;
    const first = await signInByPartner(sub);
    const again = await signInByPartner(sub, { email: `${randomHex(4)}@fans.example`, email_verified: true });
    expect(again.account).toMatchObject({ _id: first.account._id, email: first.account.email, name: "Freya Fan" });
  });

  test("creates another account once a key has unlinked the first", async () => {
    const sub = `fan-${randomHex(4)}`;
    const first = await signInByPartner(sub);
    const body = { name: "Freya Fan", thirdPartyAuthProviders: [] };
    expect((await site.call("updateAccount", { params: { id: first.account._id }, body })).status).toBe(200);
    const again = await signInByPartner(sub);
    expect(again.account._id).not.toBe(first.account._id);
    expect(again.account.email).not.toBe(first.account.email);
  });

  test("doesn't sign in to an account with an authenticator app", async () => {
    const sub = `fan-${randomHex(4)}`;
    const { id, email } = await site.addAccount(`careful-${randomHex(4)}`, []);
    const body = { name: "Freya Fan", thirdPartyAuthProviders: [{ provider: "club-app", accountId: sub }] };
    await site.call("updateAccount", { params: { id }, body });
    const { jwt } = (await site.call("login", { as: "nobody", body: { email, password: PASSWORD, siteId: site.id } })).as(Tokens);
    const as = (operationId: string, of: Record<string, unknown>) =>
      site.call(operationId, { as: "client", headers: { Authorization: `Bearer ${jwt}` }, body: of });
    const { secret } = (await as("beginTotp", { password: PASSWORD })).as(TotpSecret);
    const { token } = (await create(await sign({ sub }), sub)).as(Intent);
    expect((await as("confirmTotp", { code: totpCode(secret, Date.now()) })).status).toBe(200);
    expect((await consume(token)).problem).toMatchObject({ status: 401, code: "totp_required" });
    await as("disableTotp", { password: PASSWORD });
    expect(subjectOf((await consume(token)).as(ConsumedIntent).jwt)).toBe(id);
  });

  test("signs in to the account that a key has linked", async () => {
    const sub = `fan-${randomHex(4)}`;
    const email = `${randomHex(4)}@fans.example`;
    const body = { email, name: "Linked", password: PASSWORD, thirdPartyAuthProviders: [{ provider: "club-app", accountId: sub }] };
    const linked = (await site.call("upsertAccount", { body })).as(Account);
    expect((await signInByPartner(sub)).account._id).toBe(linked._id);
  });

  test("links the account with an address that the partner has verified, and voids its previous credentials", async () => {
    const sub = `fan-${randomHex(4)}`;
    const person = await addUnverified();
    const old = await site.signIn(person);
    const { account } = await signInByPartner(sub, { email: person.email.toUpperCase(), email_verified: true });
    expect(account).toMatchObject({
      _id: person.id,
      thirdPartyAuthProviders: [{ provider: "club-app", accountId: sub }],
      emailVerified: true,
    });
    const withOld = await site.call("getAccount", { as: "client", params: { id: person.id }, headers: { Authorization: `Bearer ${old}` } });
    expect(withOld.status).toBe(401);
    const login = await site.call("login", { as: "nobody", body: { email: person.email, password: PASSWORD, siteId: site.id } });
    expect(login.status).toBe(401);
  });

  test("links an account with a verified address, or whose password the site has set, and keeps its password", async () => {
    const [proven, trusted] = [await site.addAccount(`known-${randomHex(4)}`, []), await addUnverified({ trusted: true })];
    for (const person of [proven, trusted]) {
      const { account } = await signInByPartner(`fan-${randomHex(4)}`, { email: person.email, email_verified: true });
      expect(account).toMatchObject({ _id: person.id, emailVerified: true });
      const login = await site.call("login", { as: "nobody", body: { email: person.email, password: PASSWORD, siteId: site.id } });
      expect(login.status).toBe(200);
    }
  });

  test("verifies the address of an already linked account, and voids a password that a stranger may have set", async () => {
    const person = await addUnverified();
    const link = { provider: "club-app", accountId: `fan-${randomHex(4)}` };
    await site.call("updateAccount", { params: { id: person.id }, body: { name: "Known", thirdPartyAuthProviders: [link] } });
    expect((await signInByPartner(link.accountId)).account).toMatchObject({ _id: person.id, emailVerified: false });
    const other = { email: "somebody-else@people.example", email_verified: true };
    expect((await signInByPartner(link.accountId, other)).account).toMatchObject({ _id: person.id, emailVerified: false });
    const { account } = await signInByPartner(link.accountId, { email: person.email, email_verified: true });
    expect(account).toMatchObject({ _id: person.id, emailVerified: true, thirdPartyAuthProviders: [link] });
    const login = await site.call("login", { as: "nobody", body: { email: person.email, password: PASSWORD, siteId: site.id } });
    expect(login.status).toBe(401);
  });

  test("verifies the address of an account that it creates, if the partner has verified it", async () => {
    const email = `${randomHex(6)}@people.example`;
    expect((await signInByPartner(`fan-${randomHex(4)}`, { email, email_verified: true })).account).toMatchObject({
      email,
      emailVerified: true,
    });
    expect((await signInByPartner(`fan-${randomHex(4)}`, { email })).account.emailVerified).toBe(false);
  });

  test("never links an account by an unverified address", async () => {
    const person = await site.addAccount(`known-${randomHex(4)}`, []);
    for (const claims of [{ email: person.email }, { email: person.email, email_verified: false }]) {
      expect((await signInByPartner(`fan-${randomHex(4)}`, claims)).account._id).not.toBe(person.id);
    }
  });

  test("never links an account with roles", async () => {
    const sub = `fan-${randomHex(4)}`;
    const response = await create(await sign({ sub, email: site.accounts.admin.email, email_verified: true }), sub);
    expect(response.problem).toMatchObject({ status: 409, code: "conflict" });
    expect((await db.select().from(accounts).where(eq(accounts.id, site.accounts.admin.id)))[0]?.passwordVersion).toBe(1);
  });

  test.for(["ES256", "RS256"])("can be signed with %s", async (alg) => {
    const by = await newPartner(alg);
    const url = `https://${alg.toLowerCase()}-${randomHex(4)}.partner.example/jwks`;
    hosts.set(url, () => Response.json({ keys: [by.jwk] }));
    const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
    expect((await create(await sign({ sub: "fan" }, { by }), "fan", {}, own)).status).toBe(201);
  });

  test("is rejected if expired, without expiry, for another audience, person or key, unsigned, or signed with the public key", async () => {
    const sub = "fan-1";
    const stranger = { ...(await newPartner("EdDSA")), kid: partner.kid };
    const secret = new TextEncoder().encode(JSON.stringify(partner.jwk));
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify({ sub, aud: AUDIENCE, exp: 9e9 })).toString("base64url")}.`;
    const wrong = {
      expired: await sign({ sub }, { expires: "-1s" }),
      "without expiry": await sign({ sub }, { expires: "" }),
      "another audience": await sign({ sub, aud: "https://elsewhere.example" }),
      "another person": await sign({ sub: "fan-2" }),
      "another key": await sign({ sub }, { by: stranger }),
      unsigned,
      "public key as secret": await new SignJWT({ sub, aud: AUDIENCE })
        .setProtectedHeader({ alg: "HS256", kid: partner.kid })
        .setExpirationTime("5m")
        .sign(secret),
      nonsense: "nonsense",
    };
    const before = await db.$count(accounts, eq(accounts.siteId, site.id));
    for (const [name, jwt] of Object.entries(wrong)) expect((await create(jwt, sub)).problem?.code, name).toBe("unauthenticated");
    expect(await db.$count(accounts, eq(accounts.siteId, site.id))).toBe(before);
  });

  test("must come from a provider that this site has registered", async () => {
    const jwt = await sign({ sub: "fan" });
    expect((await create(jwt, "fan", { provider: "another-app" })).problem).toMatchObject({ status: 400, issues: [{ path: "provider" }] });
    expect((await create(jwt, "fan", {}, await newSite())).problem).toMatchObject({ status: 400, issues: [{ path: "provider" }] });
    expect(fetched).toEqual([]);
  });

  test("is verified with keys that are fetched once, and again for a new key", async () => {
    const url = `https://rotating-${randomHex(4)}.partner.example/jwks`;
    const [older, newer] = [await newPartner("EdDSA"), await newPartner("EdDSA")];
    let keys = [older.jwk];
    hosts.set(url, () => Response.json({ keys }));
    const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
    const send = async (by: Partner) => (await create(await sign({ sub: "fan" }, { by }), "fan", {}, own)).status;
    expect([await send(older), await send(older)]).toEqual([201, 201]);
    expect(fetched).toEqual([url]);
    keys = [newer.jwk, older.jwk];
    // During the cooldown between fetches, an unknown key is rejected.
    expect(await send(newer)).toBe(401);
    expect(fetched).toEqual([url]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    try {
      expect(await send(newer)).toBe(201);
    } finally {
      vi.useRealTimers();
    }
    expect(fetched).toEqual([url, url]);
  });

  test.for<[name: string, respond: () => Response]>([
    ["a redirect", () => new Response(null, { status: 302, headers: { Location: jwksUrl } })],
    ["an error", () => new Response("no", { status: 500 })],
    ["an oversized body", () => Response.json({ keys: [], padding: "x".repeat(300_000) })],
  ])("is a 503, and no error of the deployment, if the provider's keys return %s", async ([, respond]) => {
    const url = `https://broken-${randomHex(4)}.partner.example/jwks`;
    hosts.set(url, respond);
    const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
    const { problem, log } = await create(await sign({ sub: "fan" }), "fan", {}, own);
    expect([problem?.code, log.level]).toEqual(["unavailable", "info"]);
  });

  test.for(["http://keys.partner.example/jwks", "https://127.0.0.1/jwks", "https://metadata.internal/jwks"])(
    "never fetches keys from an internal address: %s",
    async (url) => {
      const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
      const { problem, log } = await create(await sign({ sub: "fan" }), "fan", {}, own);
      expect([problem?.code, log.level]).toEqual(["unavailable", "info"]);
      expect(fetched).toEqual([]);
    },
  );
});

describe("an intent", () => {
  const newIntent = async (): Promise<string> => {
    const sub = `fan-${randomHex(4)}`;
    return (await create(await sign({ sub }), sub)).as(Intent).token;
  };

  test("is consumed once, also in concurrent requests", async () => {
    const token = await newIntent();
    const responses = await Promise.all([consume(token), consume(token)]);
    expect(responses.map((response) => response.status).sort()).toEqual([200, 404]);
    expect((await consume(token)).problem?.message).toBe("The intent is unknown, expired or already used");
  });

  test("is valid only on its site, for ten minutes", async () => {
    const token = await newIntent();
    expect((await consume(token, await newSite())).status).toBe(404);
    const hash = await sha256(token);
    await db.update(intents).set({ expires: Date.now() }).where(eq(intents.hash, hash));
    expect((await consume(token)).status).toBe(404);
  });

  test("is limited per address, so that nobody can have a site verify tokens and send mail without end", async () => {
    const address = "198.51.100.77";
    await exhaustLimit(site.id, "createIntent", address);
    const body = { jwt: "x", name: "Vera", provider: "club-app", service: "club-app-ios", thirdPartyAccountId: "fan" };
    const createFrom = (from: string) => site.call("createIntent", { body, headers: { "CF-Connecting-IP": from } });
    expect((await createFrom(address)).problem?.code).toBe("rate_limited");
    expect((await createFrom("198.51.100.78")).status).not.toBe(429);
  });

  test("is stored and published without its token", async () => {
    const token = await newIntent();
    await consume(token);
    const rows = JSON.stringify(await db.select().from(intents).where(eq(intents.siteId, site.id)));
    const { results } = (await site.call("listEvents", { query: { types: "auth.intentCreated,auth.intentConsumed" } })).as(EventList);
    expect(results.slice(-2).map((event) => event.type)).toEqual(["auth.intentCreated", "auth.intentConsumed"]);
    for (const text of [rows, JSON.stringify(results)]) expect(text).not.toContain(token);
  });

  test("can't be consumed after its account was deleted", async () => {
    const sub = `fan-${randomHex(4)}`;
    const { account } = await signInByPartner(sub);
    const { token } = (await create(await sign({ sub }), sub)).as(Intent);
    await site.call("deleteAccount", { params: { id: account._id } });
    expect((await consume(token)).status).toBe(404);
  });
});
