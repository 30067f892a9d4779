import { scryptSync } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from "jose";
import { eq, sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, globalAccounts, sessions } from "#db/schema/accounts.ts";
import { type ApiResponse, newSite, ORIGIN, PASSWORD, send, type TestAccount, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { operationOf } from "#test/openapi.ts";
import { login as signIn } from "#worker/services/auth/auth.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Jwks, Tokens } from "#worker/services/auth/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { directory, siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

interface Attempt {
  email?: string;
  password?: string;
  siteId?: string | undefined;
  address?: string;
}

function login({
  email = site.accounts.viewer.email,
  password = PASSWORD,
  siteId = site.id,
  address = "192.0.2.1",
}: Attempt = {}): Promise<ApiResponse> {
  return site.call("login", { as: "nobody", body: { email, password, siteId }, headers: { "CF-Connecting-IP": address } });
}

async function signedIn(account: TestAccount = site.accounts.viewer): Promise<Tokens> {
  return (await login({ email: account.email })).as(Tokens);
}

function refresh(refreshToken: string): Promise<ApiResponse> {
  return site.call("refreshTokens", { as: "nobody", body: { refreshToken } });
}

/** A hash with outdated parameters. */
function scryptPhc(password: string): string {
  const salt = Buffer.from("some salt of old");
  const hash = scryptSync(password, salt, 32, { N: 2 ** 10, r: 8, p: 1 });
  const [first, second] = [salt, hash].map((bytes) => bytes.toString("base64").replace(/=+$/, ""));
  return `$scrypt$ln=10,r=8,p=1$${first}$${second}`;
}

/** Reads the caller's own account, which any valid token allows. */
async function readOwnAccount(jwt: string, account = site.accounts.viewer): Promise<ApiResponse> {
  return site.call("getAccount", { as: "client", params: { id: account.id }, headers: { Authorization: `Bearer ${jwt}` } });
}

/** Creates a global account with the usual password, and returns its email. */
async function globalAccount(): Promise<string> {
  const email = `${newId(Date.now())}@global.example`;
  const [{ passwordHash } = { passwordHash: null }] = await db.select().from(accounts).where(eq(accounts.id, site.accounts.admin.id));
  await directory
    .insert(globalAccounts)
    .values({ id: newId(Date.now()), email, passwordHash: passwordHash ?? "", created: 1, modified: 1 });
  return email;
}

describe("sign-in", () => {
  test("returns a JWT for ten minutes with site and account, signed with a published key", async () => {
    const { jwt } = await signedIn();
    const { kid, alg } = decodeProtectedHeader(jwt);
    const { keys } = (await site.call("getJwks", { as: "nobody" })).as(Jwks);
    const key = keys.find((candidate) => candidate.kid === kid);
    expect(alg).toBe("EdDSA");
    const { payload } = await jwtVerify(jwt, await importJWK({ ...key }, "EdDSA"), { issuer: "tifo", audience: site.id });
    expect(payload.sub).toBe(site.accounts.viewer.id);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(600);
    expect((await readOwnAccount(jwt)).status).toBe(200);
  });

  test("accepts the email address in any case", async () => {
    expect((await login({ email: site.accounts.viewer.email.toUpperCase() })).status).toBe(200);
  });

  test("records lastLogin, which a refresh doesn't", async () => {
    const fresh = await site.addAccount("notes", []);
    const before = Date.now();
    const tokens = await signedIn(fresh);
    const [{ lastLogin } = { lastLogin: null }] = await db.select().from(accounts).where(eq(accounts.id, fresh.id));
    expect(lastLogin).toBeGreaterThanOrEqual(before);
    await db.update(accounts).set({ lastLogin: 1 }).where(eq(accounts.id, fresh.id));
    expect((await refresh(tokens.refreshToken)).status).toBe(200);
    const [after] = await db.select().from(accounts).where(eq(accounts.id, fresh.id));
    expect(after?.lastLogin).toBe(1);
  });

  test("doesn't overwrite a new password that is set while the old one is rehashed", async () => {
    const person = await site.addAccount("rehashed", []);
    const row = async () => (await db.select().from(accounts).where(eq(accounts.id, person.id)))[0];
    const weak = scryptPhc(PASSWORD);
    await db.update(accounts).set({ passwordHash: weak }).where(eq(accounts.id, person.id));
    let batches = 0;
    const slow = new Proxy(db, {
      get(target, key): unknown {
        if (key !== "batch") return Reflect.get(target, key);
        return async (statements: Parameters<typeof db.batch>[0]) => {
          // The first batch reads the account, the second writes.
          if (batches++ === 0) return target.batch(statements);
          await db.update(accounts).set({ passwordHash: "the new one", passwordVersion: 2 }).where(eq(accounts.id, person.id));
          return target.batch(statements);
        };
      },
    });
    const ctx = { ...interruptedContext(site, () => Promise.resolve()), db: slow };
    await signIn(ctx, { email: person.email, password: PASSWORD, siteId: site.id }, "192.0.2.9");
    expect(await row()).toMatchObject({ passwordHash: "the new one", passwordVersion: 2 });
  });

  test("returns the same error for a wrong password and a missing account", async () => {
    const wrong = await login({ password: "wrong-password", address: "192.0.2.2" });
    const nobody = await login({ email: "nobody@nowhere.example", address: "192.0.2.2" });
    expect(wrong.problem).toMatchObject({ status: 401, code: "unauthenticated", message: "Wrong email or password" });
    expect({ ...nobody.problem, requestId: "" }).toEqual({ ...wrong.problem, requestId: "" });
  });

  test("rejects an account of another site, and a site's account as a global one", async () => {
    const other = await newSite();
    expect((await login({ siteId: other.id, address: "192.0.2.3" })).status).toBe(401);
    const global = await site.call("login", { as: "nobody", body: { email: site.accounts.admin.email, password: PASSWORD } });
    expect(global.status).toBe(401);
  });

  test("rejects a siteId that differs from the client id", async () => {
    const body = { email: site.accounts.viewer.email, password: PASSWORD, siteId: newId(Date.now()) };
    const response = await site.call("login", { as: "client", body });
    expect(response).toMatchObject({ status: 400, fields: ["siteId"] });
  });

  test("is rate limited after five failures, without database access, for that address only", async () => {
    const owner = await site.addAccount("owner", []);
    const thief = { email: owner.email, address: "198.51.100.7" };
    for (let attempt = 0; attempt < 5; attempt++) expect((await login({ ...thief, password: "guess-number-one" })).status).toBe(401);
    const rejected = await login(thief);
    expect(rejected.problem).toMatchObject({ status: 429, code: "rate_limited" });
    expect(Number(rejected.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(rejected.headers.get("RateLimit")).toMatch(/^"signIn";r=0;t=\d+$/);
    expect(rejected.log.d1).toEqual({ roundTrips: 0, statements: 0 });
    expect((await login({ email: owner.email, address: "203.0.113.9" })).status).toBe(200);
  });

  test("doesn't count toward the limit when it succeeds", async () => {
    const owner = await site.addAccount("often", []);
    for (let attempt = 0; attempt < 7; attempt++) expect((await login({ email: owner.email })).status).toBe(200);
  });
});

describe("a global sign-in", () => {
  test("returns a token that manages no site and can be signed out", async () => {
    const tokens = (await site.call("login", { as: "nobody", body: { email: await globalAccount(), password: PASSWORD } })).as(Tokens);
    expect(decodeJwt(tokens.jwt).aud).toBe("global");
    const headers = { Authorization: `Bearer ${tokens.jwt}` };
    const rejected = await site.call("listAccounts", { as: "client", headers });
    expect(rejected.problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await readOwnAccount(tokens.jwt)).status).toBe(403);
    expect((await refresh(tokens.refreshToken)).status).toBe(200);
    expect((await site.call("logout", { as: "client", headers })).status).toBe(204);
    expect((await site.call("listAccounts", { as: "client", headers })).status).toBe(401);
  });
});

/** Simulates that the grace period for a used refresh token has passed. */
async function skipGrace(jwt: string): Promise<void> {
  await db
    .update(sessions)
    .set({ expires: sql`${sessions.expires} - 10000` })
    .where(eq(sessions.id, String(decodeJwt(jwt).sid)));
}

describe("refresh", () => {
  test("returns a new pair each time", async () => {
    let { refreshToken } = await signedIn();
    for (let generation = 0; generation < 3; generation++) {
      const next = (await refresh(refreshToken)).as(Tokens);
      expect(next.refreshToken).not.toBe(refreshToken);
      expect((await readOwnAccount(next.jwt)).status).toBe(200);
      refreshToken = next.refreshToken;
    }
  });

  test("with a used token ends the whole session, for thief and owner", async () => {
    const stolen = await signedIn();
    const next = (await refresh(stolen.refreshToken)).as(Tokens);
    await skipGrace(stolen.jwt);
    expect((await refresh(stolen.refreshToken)).status).toBe(401);
    expect((await refresh(next.refreshToken)).status).toBe(401);
    expect((await readOwnAccount(next.jwt)).status).toBe(401);
    const elsewhere = await signedIn();
    expect((await readOwnAccount(elsewhere.jwt)).status).toBe(200);
  });

  describe("after a lost response", () => {
    const under = (key: string, refreshToken: string, address = "192.0.2.1") =>
      site.call("refreshTokens", {
        as: "nobody",
        body: { refreshToken },
        headers: { "Idempotency-Key": key, "CF-Connecting-IP": address },
      });

    test("returns the same token again for its idempotency key, also from another network", async () => {
      const { refreshToken } = await signedIn();
      const key = randomHex(8);
      const lost = (await under(key, refreshToken)).as(Tokens);
      const again = await under(key, refreshToken, "198.51.100.4");
      expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([200, "true"]);
      expect(again.as(Tokens).refreshToken).toBe(lost.refreshToken);
      expect((await readOwnAccount(again.as(Tokens).jwt)).status).toBe(200);
      expect((await refresh(lost.refreshToken)).status).toBe(200);
    });

    test("returns 409 once the lost tokens were used, or after 30 s, and the session continues", async () => {
      const { jwt, refreshToken } = await signedIn();
      const [first, second] = [randomHex(8), randomHex(8)];
      const next = (await under(first, refreshToken)).as(Tokens);
      const last = (await under(second, next.refreshToken)).as(Tokens);
      expect((await under(first, refreshToken)).problem).toMatchObject({ status: 409, code: "idempotency_unanswered" });
      await db
        .update(sessions)
        .set({ expires: sql`${sessions.expires} - 30000` })
        .where(eq(sessions.id, String(decodeJwt(jwt).sid)));
      expect((await under(second, next.refreshToken)).problem).toMatchObject({ status: 409, code: "idempotency_unanswered" });
      expect((await refresh(last.refreshToken)).status).toBe(200);
    });

    test("ends the session with another idempotency key, as without one", async () => {
      const { jwt, refreshToken } = await signedIn();
      const next = (await under(randomHex(8), refreshToken)).as(Tokens);
      await skipGrace(jwt);
      expect((await under(randomHex(8), refreshToken)).status).toBe(401);
      expect((await refresh(next.refreshToken)).status).toBe(401);
    });
  });

  test("is rejected with another site's client id, but reuse there still ends the session", async () => {
    const { refreshToken } = await signedIn();
    const other = await newSite();
    const foreign = (token: string) => other.call("refreshTokens", { as: "client", body: { refreshToken: token } });
    expect((await foreign(refreshToken)).status).toBe(401);
    const next = (await site.call("refreshTokens", { as: "client", body: { refreshToken } })).as(Tokens);
    // A used token ends the session there too.
    expect((await foreign(refreshToken)).status).toBe(401);
    expect((await refresh(next.refreshToken)).status).toBe(401);
  });

  describe("from several tabs with one token", () => {
    test("returns the same next token to all of them, and the session continues", async () => {
      const { refreshToken } = await signedIn();
      const responses = await Promise.all(Array.from({ length: 5 }, () => refresh(refreshToken)));
      const late = await refresh(refreshToken);
      const pairs = [...responses, late].map((response) => response.as(Tokens));
      expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1);
      for (const { jwt } of pairs) expect((await readOwnAccount(jwt)).status).toBe(200);
      const [first, second] = await Promise.all([refresh(pairs[0]?.refreshToken ?? ""), refresh(pairs[1]?.refreshToken ?? "")]);
      expect(first.as(Tokens).refreshToken).toBe(second.as(Tokens).refreshToken);
    });

    test("ends the session if a second tab refreshes 10 s later", async () => {
      const { jwt, refreshToken } = await signedIn();
      const next = (await refresh(refreshToken)).as(Tokens);
      await skipGrace(jwt);
      expect((await refresh(refreshToken)).status).toBe(401);
      expect((await refresh(next.refreshToken)).status).toBe(401);
    });

    test("ends the session if a tab is two tokens behind, regardless of time", async () => {
      const { refreshToken } = await signedIn();
      const next = (await refresh(refreshToken)).as(Tokens);
      const last = (await refresh(next.refreshToken)).as(Tokens);
      expect((await refresh(refreshToken)).status).toBe(401);
      expect((await refresh(last.refreshToken)).status).toBe(401);
    });

    test("detects a thief who refreshed within the grace period at the next refresh after it", async () => {
      const { jwt, refreshToken } = await signedIn();
      const owner = (await refresh(refreshToken)).as(Tokens);
      const thief = (await refresh(refreshToken)).as(Tokens);
      expect(thief.refreshToken).toBe(owner.refreshToken);
      const further = (await refresh(thief.refreshToken)).as(Tokens);
      await skipGrace(jwt);
      expect((await refresh(owner.refreshToken)).status).toBe(401);
      expect((await refresh(further.refreshToken)).status).toBe(401);
      expect((await readOwnAccount(further.jwt)).status).toBe(401);
    });

    test("is rejected after the session was signed out", async () => {
      const { refreshToken } = await signedIn();
      const next = (await refresh(refreshToken)).as(Tokens);
      await site.call("logout", { as: "client", headers: { Authorization: `Bearer ${next.jwt}` } });
      expect((await refresh(refreshToken)).status).toBe(401);
    });
  });

  test.for([
    ["nonsense", () => "nonsense"],
    ["another generation", (token: string) => token.replace(/\.(\d+)\./, ".9.")],
    ["a forged signature", (token: string) => token.slice(0, -4) + "AAAA"],
    ["no signature", (token: string) => token.replace(/\.[^.]*$/, ".")],
  ] as const)("rejects %s and keeps the session", async ([, spoil]) => {
    const tokens = await signedIn();
    expect((await refresh(spoil(tokens.refreshToken))).status).toBe(401);
    expect((await readOwnAccount(tokens.jwt)).status).toBe(200);
    expect((await refresh(tokens.refreshToken)).status).toBe(200);
  });

  test("rejects an expired session", async () => {
    const { jwt, refreshToken } = await signedIn();
    await db
      .update(sessions)
      .set({ expires: Date.now() - 1 })
      .where(eq(sessions.id, String(decodeJwt(jwt).sid)));
    expect((await refresh(refreshToken)).status).toBe(401);
  });

  test("is rejected after the account was deleted", async () => {
    const leaver = await site.addAccount("leaver", []);
    const { refreshToken } = await signedIn(leaver);
    await db.delete(accounts).where(eq(accounts.id, leaver.id));
    expect((await refresh(refreshToken)).status).toBe(401);
  });
});

describe("a session", () => {
  test("ends immediately on sign-out, with its JWT and refresh token", async () => {
    const [tokens, other] = [await signedIn(), await signedIn()];
    const response = await site.call("logout", { as: "client", headers: { Authorization: `Bearer ${tokens.jwt}` } });
    expect([response.status, response.text]).toEqual([204, ""]);
    expect((await readOwnAccount(tokens.jwt)).status).toBe(401);
    expect((await refresh(tokens.refreshToken)).status).toBe(401);
    expect((await readOwnAccount(other.jwt)).status).toBe(200);
  });

  test("ends on all devices on sign-out everywhere, each with an event, and no session of anybody else", async () => {
    const traveller = await site.addAccount("traveller", []);
    const [here, elsewhere] = [await signedIn(traveller), await signedIn(traveller)];
    const stranger = await signedIn();
    const headers = { Authorization: `Bearer ${here.jwt}` };
    expect((await site.call("logout", { as: "client", query: { everywhere: "true" }, headers })).status).toBe(204);
    for (const { jwt, refreshToken } of [here, elsewhere]) {
      expect((await readOwnAccount(jwt, traveller)).status).toBe(401);
      expect((await refresh(refreshToken)).status).toBe(401);
    }
    expect((await readOwnAccount(stranger.jwt)).status).toBe(200);
    const { results } = (await site.call("listEvents", { query: { types: "account.sessionEnded", limit: "200" } })).as(EventList);
    const ended = results.map(({ data }) => data).filter(({ _id }) => _id === traveller.id);
    expect(ended.map(({ sessionId }) => sessionId).sort()).toEqual([here, elsewhere].map(({ jwt }) => decodeJwt(jwt).sid).sort());
    expect(ended.every(({ reason }) => reason === "signedOut")).toBe(true);
  });

  test("of a global account ends everywhere too", async () => {
    const email = await globalAccount();
    const signInGlobally = async () => (await site.call("login", { as: "nobody", body: { email, password: PASSWORD } })).as(Tokens);
    const [one, other] = [await signInGlobally(), await signInGlobally()];
    const headers = { Authorization: `Bearer ${one.jwt}` };
    expect((await site.call("logout", { as: "client", query: { everywhere: "true" }, headers })).status).toBe(204);
    for (const { refreshToken } of [one, other]) expect((await refresh(refreshToken)).status).toBe(401);
  });

  test("has the current roles, not those at sign-in", async () => {
    const demoted = await site.addAccount("demoted", [{ scope: "*", pageId: [], write: true }]);
    const headers = { Authorization: `Bearer ${(await signedIn(demoted)).jwt}` };
    expect((await site.call("listAccounts", { as: "client", headers })).status).toBe(200);
    await db.update(accounts).set({ roles: [] }).where(eq(accounts.id, demoted.id));
    expect((await site.call("listAccounts", { as: "client", headers })).status).toBe(403);
  });

  test("ends when the password changes", async () => {
    const changer = await site.addAccount("changer", []);
    const { jwt } = await signedIn(changer);
    await db.update(accounts).set({ passwordVersion: 2 }).where(eq(accounts.id, changer.id));
    expect((await readOwnAccount(jwt, changer)).status).toBe(401);
  });
});

test("the key set is cacheable, a sign-in isn't", async () => {
  const jwks = await send(operationOf("getJwks"), new URL("/.well-known/jwks.json", ORIGIN), { method: "GET" });
  expect(jwks.headers.get("Cache-Control")).toBe("public, max-age=300");
  expect((await login()).headers.get("Cache-Control")).toBe("no-store");
});
