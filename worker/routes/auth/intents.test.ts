import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { decodeJwt, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, intents } from "#db/schema/index.ts";
import { type Answer, newSite, PASSWORD, type TestAccount, type TestSite } from "#test/harness.ts";
import { resolve } from "#test/resolver.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ConsumedIntent, Intent, Tokens } from "#worker/services/auth/schemas.ts";

const db = createDb(env.DB);
const AUDIENCE = "https://tifo.test/harbour-city";

interface Partner {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

let site: TestSite;
let partner: Partner;
/** What the partners' hosts answer, by URL; and how often they were asked. */
const hosts = new Map<string, () => Response>();
const asked: string[] = [];

const jwksUrl = `https://keys-${randomHex(6)}.partner.example/jwks.json`;

async function newPartner(alg: string): Promise<Partner> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomHex(6);
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

async function newSiteWith(providers: { name: string; jwksUrl: string; audience: string }[]): Promise<TestSite> {
  const made = await newSite();
  await made.call("updateSite", { body: { name: "Harbour City FC", settings: { security: { providers } } } });
  return made;
}

beforeAll(async () => {
  partner = await newPartner("EdDSA");
  hosts.set(jwksUrl, () => Response.json({ keys: [partner.jwk] }));
  site = await newSiteWith([{ name: "club-app", jwksUrl, audience: AUDIENCE }]);
});

/** An account whose address nobody has proved. */
async function unproven(change: { trusted?: boolean } = {}): Promise<TestAccount> {
  const person = await site.addAccount(`known-${randomHex(4)}`, []);
  await db
    .update(accounts)
    .set({ emailVerified: null, trusted: false, ...change })
    .where(eq(accounts.id, person.id));
  return person;
}

beforeEach(() => {
  asked.length = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation((input) => {
    const resolved = resolve(input);
    if (resolved) return Promise.resolve(resolved);
    const url = input instanceof Request ? input.url : String(input);
    asked.push(url);
    const answer = hosts.get(url);
    return answer ? Promise.resolve(answer()) : Promise.reject(new Error(`Nobody answers at ${url}`));
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface Saying extends JWTPayload {
  email?: string;
  email_verified?: boolean;
}

function sign(claims: Saying, { by = partner, expires = "5m" }: { by?: Partner; expires?: string | undefined } = {}): Promise<string> {
  const token = new SignJWT({ aud: AUDIENCE, ...claims }).setProtectedHeader({ alg: by.alg, kid: by.kid }).setIssuedAt();
  return (expires === "" ? token : token.setExpirationTime(expires)).sign(by.privateKey);
}

const create = (jwt: string, thirdPartyAccountId: string, change: Record<string, unknown> = {}, on = site): Promise<Answer> =>
  on.call("createIntent", {
    body: { jwt, name: "Freya Fan", provider: "club-app", service: "club-app-ios", thirdPartyAccountId, ...change },
  });

const consume = (token: string, on = site): Promise<Answer> => on.call("consumeIntent", { params: { token } });

/** Comes in through the partner, all the way. */
async function comeIn(sub: string, claims: Saying = {}): Promise<ConsumedIntent & { account: Account }> {
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
  test("becomes an account, signed in with a session of its own", async () => {
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

  test("leads to the same account the next time, whatever name and e-mail come with it", async () => {
    const sub = `fan-${randomHex(4)}`;
    const first = await comeIn(sub);
    const again = await comeIn(sub, { email: `${randomHex(4)}@fans.example`, email_verified: true });
    expect(again.account).toMatchObject({ _id: first.account._id, email: first.account.email, name: "Freya Fan" });
  });

  test("makes another account once a key has unlinked the first", async () => {
    const sub = `fan-${randomHex(4)}`;
    const first = await comeIn(sub);
    const body = { name: "Freya Fan", thirdPartyAuthProviders: [] };
    expect((await site.call("updateAccount", { params: { id: first.account._id }, body })).status).toBe(200);
    const again = await comeIn(sub);
    expect(again.account._id).not.toBe(first.account._id);
    expect(again.account.email).not.toBe(first.account.email);
  });

  test("leads to the account to which a key has linked it", async () => {
    const sub = `fan-${randomHex(4)}`;
    const email = `${randomHex(4)}@fans.example`;
    const body = { email, name: "Linked", password: PASSWORD, thirdPartyAuthProviders: [{ provider: "club-app", accountId: sub }] };
    const linked = (await site.call("upsertAccount", { body })).as(Account);
    expect((await comeIn(sub)).account._id).toBe(linked._id);
  });

  test("links the account of an e-mail that the partner has verified, and ends what signed it in before", async () => {
    const sub = `fan-${randomHex(4)}`;
    const person = await unproven();
    const old = await site.signIn(person);
    const { account } = await comeIn(sub, { email: person.email.toUpperCase(), email_verified: true });
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

  test("links an account that its owner has proved, or whose password the site has set, and leaves its password", async () => {
    const [proven, trusted] = [await site.addAccount(`known-${randomHex(4)}`, []), await unproven({ trusted: true })];
    for (const person of [proven, trusted]) {
      const { account } = await comeIn(`fan-${randomHex(4)}`, { email: person.email, email_verified: true });
      expect(account).toMatchObject({ _id: person.id, emailVerified: true });
      const login = await site.call("login", { as: "nobody", body: { email: person.email, password: PASSWORD, siteId: site.id } });
      expect(login.status).toBe(200);
    }
  });

  test("proves the address of an account that is linked already, and ends the password that a stranger may have set", async () => {
    const person = await unproven();
    const link = { provider: "club-app", accountId: `fan-${randomHex(4)}` };
    await site.call("updateAccount", { params: { id: person.id }, body: { name: "Known", thirdPartyAuthProviders: [link] } });
    expect((await comeIn(link.accountId)).account).toMatchObject({ _id: person.id, emailVerified: false });
    const other = { email: "somebody-else@people.example", email_verified: true };
    expect((await comeIn(link.accountId, other)).account).toMatchObject({ _id: person.id, emailVerified: false });
    const { account } = await comeIn(link.accountId, { email: person.email, email_verified: true });
    expect(account).toMatchObject({ _id: person.id, emailVerified: true, thirdPartyAuthProviders: [link] });
    const login = await site.call("login", { as: "nobody", body: { email: person.email, password: PASSWORD, siteId: site.id } });
    expect(login.status).toBe(401);
  });

  test("proves the address of an account that it makes, if the partner has verified it", async () => {
    const email = `${randomHex(6)}@people.example`;
    expect((await comeIn(`fan-${randomHex(4)}`, { email, email_verified: true })).account).toMatchObject({ email, emailVerified: true });
    expect((await comeIn(`fan-${randomHex(4)}`, { email })).account.emailVerified).toBe(false);
  });

  test("takes no account over by an e-mail that nobody has verified", async () => {
    const person = await site.addAccount(`known-${randomHex(4)}`, []);
    for (const claims of [{ email: person.email }, { email: person.email, email_verified: false }]) {
      expect((await comeIn(`fan-${randomHex(4)}`, claims)).account._id).not.toBe(person.id);
    }
  });

  test("never takes over an account with roles", async () => {
    const sub = `fan-${randomHex(4)}`;
    const answer = await create(await sign({ sub, email: site.accounts.admin.email, email_verified: true }), sub);
    expect(answer.problem).toMatchObject({ status: 409, code: "conflict" });
    expect((await db.select().from(accounts).where(eq(accounts.id, site.accounts.admin.id)))[0]?.passwordVersion).toBe(1);
  });

  test.for(["ES256", "RS256"])("may be signed with %s", async (alg) => {
    const by = await newPartner(alg);
    const url = `https://${alg.toLowerCase()}-${randomHex(4)}.partner.example/jwks`;
    hosts.set(url, () => Response.json({ keys: [by.jwk] }));
    const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
    expect((await create(await sign({ sub: "fan" }, { by }), "fan", {}, own)).status).toBe(201);
  });

  test("is refused when expired, without end, of another audience, person or key, unsigned or signed with the public key", async () => {
    const sub = "fan-1";
    const stranger = { ...(await newPartner("EdDSA")), kid: partner.kid };
    const secret = new TextEncoder().encode(JSON.stringify(partner.jwk));
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify({ sub, aud: AUDIENCE, exp: 9e9 })).toString("base64url")}.`;
    const wrong = {
      expired: await sign({ sub }, { expires: "-1s" }),
      "without end": await sign({ sub }, { expires: "" }),
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

  test("is of a provider that this site has registered", async () => {
    const jwt = await sign({ sub: "fan" });
    expect((await create(jwt, "fan", { provider: "another-app" })).problem).toMatchObject({ status: 400, issues: [{ path: "provider" }] });
    expect((await create(jwt, "fan", {}, await newSite())).problem).toMatchObject({ status: 400, issues: [{ path: "provider" }] });
    expect(asked).toEqual([]);
  });

  test("is checked against keys that are fetched once, and again for a key that is new", async () => {
    const url = `https://rotating-${randomHex(4)}.partner.example/jwks`;
    const [older, newer] = [await newPartner("EdDSA"), await newPartner("EdDSA")];
    let keys = [older.jwk];
    hosts.set(url, () => Response.json({ keys }));
    const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
    const send = async (by: Partner) => (await create(await sign({ sub: "fan" }, { by }), "fan", {}, own)).status;
    expect([await send(older), await send(older)]).toEqual([201, 201]);
    expect(asked).toEqual([url]);
    keys = [newer.jwk, older.jwk];
    // Within the pause between two fetches an unknown key is only refused.
    expect(await send(newer)).toBe(401);
    expect(asked).toEqual([url]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    try {
      expect(await send(newer)).toBe(201);
    } finally {
      vi.useRealTimers();
    }
    expect(asked).toEqual([url, url]);
  });

  test.for<[name: string, answer: () => Response]>([
    ["a redirect", () => new Response(null, { status: 302, headers: { Location: jwksUrl } })],
    ["an error", () => new Response("no", { status: 500 })],
    ["more than it may", () => Response.json({ keys: [], padding: "x".repeat(300_000) })],
  ])("can't be checked when the provider's keys answer %s: 503", async ([, answer]) => {
    const url = `https://broken-${randomHex(4)}.partner.example/jwks`;
    hosts.set(url, answer);
    const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
    expect((await create(await sign({ sub: "fan" }), "fan", {}, own)).problem?.code).toBe("unavailable");
  });

  test.for(["http://keys.partner.example/jwks", "https://127.0.0.1/jwks", "https://metadata.internal/jwks"])(
    "asks no inside address for keys: %s",
    async (url) => {
      const own = await newSiteWith([{ name: "club-app", jwksUrl: url, audience: AUDIENCE }]);
      expect((await create(await sign({ sub: "fan" }), "fan", {}, own)).problem?.code).toBe("unavailable");
      expect(asked).toEqual([]);
    },
  );
});

describe("an intent", () => {
  const newIntent = async (): Promise<string> => {
    const sub = `fan-${randomHex(4)}`;
    return (await create(await sign({ sub }), sub)).as(Intent).token;
  };

  test("is consumed once, also when two come at the same instant", async () => {
    const token = await newIntent();
    const answers = await Promise.all([consume(token), consume(token)]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404]);
    expect((await consume(token)).problem?.message).toBe("The intent is unknown, used up or expired");
  });

  test("is of its own site, and good for ten minutes", async () => {
    const token = await newIntent();
    expect((await consume(token, await newSite())).status).toBe(404);
    const hash = await sha256(token);
    await db.update(intents).set({ expires: Date.now() }).where(eq(intents.hash, hash));
    expect((await consume(token)).status).toBe(404);
  });

  test("is kept and told of without its token", async () => {
    const token = await newIntent();
    await consume(token);
    const rows = JSON.stringify(await db.select().from(intents).where(eq(intents.siteId, site.id)));
    const { results } = (await site.call("listEvents", { query: { types: "auth.intentCreated,auth.intentConsumed" } })).as(EventList);
    expect(results.slice(-2).map((event) => event.type)).toEqual(["auth.intentCreated", "auth.intentConsumed"]);
    for (const text of [rows, JSON.stringify(results)]) expect(text).not.toContain(token);
  });

  test("signs nobody in whose account is gone", async () => {
    const sub = `fan-${randomHex(4)}`;
    const { account } = await comeIn(sub);
    const { token } = (await create(await sign({ sub }), sub)).as(Intent);
    await site.call("deleteAccount", { params: { id: account._id } });
    expect((await consume(token)).status).toBe(404);
  });
});
