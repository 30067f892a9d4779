import nodeCrypto from "node:crypto";
import { eq } from "drizzle-orm";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { passwordResets, signInPlaces } from "#db/schema/accounts.ts";
import { Limiter } from "#worker/durable-objects/limiter.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { LIMITS } from "#worker/lib/limits.ts";
import { newId } from "#worker/lib/ids.ts";
import { signContent } from "#worker/lib/crypto/signed.ts";
import { rejectionCache } from "#worker/services/core/limits.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { exhaustLimit } from "../limit-usage.ts";
import { type ApiResponse, newSite, PASSWORD, type TestAccount, type TestSite } from "../harness.ts";
import { siteStore } from "#test/site-store.ts";

// How many passwords can be guessed for one account, from however many addresses, and who can still sign in meanwhile.

const { quota } = LIMITS.signInAccount;
const HOME = "198.51.100.7";
const CAFE = "192.0.2.44";
const db = createDb(siteStore);
let takes: MockInstance<Limiter["takeAll"]>;

let site: TestSite;
let people = 0;

beforeAll(async () => {
  site = await newSite();
});

beforeEach(() => {
  rejectionCache.clear();
  takes = vi.spyOn(Limiter.prototype, "takeAll");
});

interface From {
  address?: string;
  device?: string;
}

function signIn(
  email: string,
  password: string,
  { address = HOME, device }: From = {},
  siteId: string | null = site.id,
): Promise<ApiResponse> {
  const headers = { "CF-Connecting-IP": address, ...(device && { "Tifo-Device-Id": device }) };
  return site.call("login", { as: "nobody", body: { email, password, ...(siteId && { siteId }) }, headers });
}

const newPerson = (): Promise<TestAccount> => site.addAccount(`person-${people++}`, []);

/** The key that counts attempts for an email from places that the account doesn't know. */
const strangersKey = (email: string, scope = site.id): Promise<string> => sha256(`${scope}\n${email}`);

async function exhaustStrangers(email: string, scope = site.id): Promise<void> {
  await exhaustLimit(scope, "signInAccount", await strangersKey(email, scope));
}

describe("wrong passwords for one account", () => {
  test(`are verified ${quota} times within an hour, from however many networks of a /48`, async () => {
    const scrypt = vi.spyOn(nodeCrypto, "scrypt").mockImplementation((_password, _salt, length, _options, done) => {
      done(null, Buffer.alloc(length));
    });
    const { email } = await newPerson();
    const statuses = new Map<number, number>();
    for (let network = 0; network < quota + 20; network++) {
      const { status } = await signIn(email, "guess", { address: `2001:db8:1:${network.toString(16)}::1` });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: quota, 429: 20 });
    expect(scrypt).toHaveBeenCalledTimes(quota);
    scrypt.mockRestore();
    // From an unknown place, even the correct password gets a Retry-After.
    const rejected = await signIn(email, PASSWORD, { address: CAFE });
    expect([rejected.status, rejected.problem?.code]).toEqual([429, "rate_limited"]);
    expect(Number(rejected.headers.get("Retry-After"))).toBeGreaterThan(3000);
  });

  test("don't lock out the owner at a known network or on a known device", async () => {
    const { email } = await newPerson();
    expect((await signIn(email, PASSWORD, { address: HOME, device: "owners-phone" })).status).toBe(200);
    await exhaustStrangers(email);
    expect((await signIn(email, PASSWORD, { address: CAFE })).status).toBe(429);
    expect((await signIn(email, PASSWORD, { address: CAFE, device: "another-phone" })).status).toBe(429);
    expect((await signIn(email, PASSWORD, { address: CAFE, device: "owners-phone" })).status).toBe(200);
    expect((await signIn(email, PASSWORD, { address: HOME })).status).toBe(200);
  });

  test("from a known network have their own quota, separate from that of the known device", async () => {
    const { id, email } = await newPerson();
    await signIn(email, PASSWORD, { address: HOME });
    const [place] = await db.select().from(signInPlaces).where(eq(signInPlaces.accountId, id));
    await signIn(email, PASSWORD, { address: CAFE, device: "owners-phone" });
    await exhaustLimit(site.id, "signInAccount", `${await strangersKey(email)} ${place?.hash}`);
    expect((await signIn(email, PASSWORD, { address: HOME })).status).toBe(429);
    expect((await signIn(email, PASSWORD, { address: HOME, device: "owners-phone" })).status).toBe(200);
    expect((await signIn(email, PASSWORD, { address: "203.0.113.50" })).status).toBe(200);
  });

  test("at a place that only another account knows count as a stranger's", async () => {
    const [owner, neighbour] = [await newPerson(), await newPerson()];
    await signIn(neighbour.email, PASSWORD, { address: HOME, device: "shared" });
    await exhaustStrangers(owner.email);
    expect((await signIn(owner.email, PASSWORD, { address: HOME, device: "shared" })).status).toBe(429);
  });

  test("no longer lock out the owner at a place where they have reset the password", async () => {
    const { id, email } = await newPerson();
    await exhaustStrangers(email);
    expect((await signIn(email, PASSWORD, { address: CAFE })).status).toBe(429);
    await site.call("askPasswordReset", { body: { email, baseUrl: "https://demo.example/reset" } });
    const [reset] = await db.select().from(passwordResets).where(eq(passwordResets.accountId, id));
    const body = { token: await signContent(env, "password reset", reset?.id ?? ""), password: "a-new-one-to-keep" };
    await site.call("resetPassword", { body, headers: { "CF-Connecting-IP": CAFE } });
    expect((await signIn(email, "a-new-one-to-keep", { address: CAFE })).status).toBe(200);
  });

  test("are counted together with wrong old passwords", async () => {
    const person = await newPerson();
    await exhaustStrangers(person.email);
    const headers = { Authorization: `Bearer ${await site.signIn(person)}`, "CF-Connecting-IP": CAFE };
    const body = { oldPassword: PASSWORD, password: "a-new-one-to-keep" };
    expect((await site.call("changePassword", { as: "client", body, headers })).status).toBe(429);
  });

  test("are also limited for global sign-ins", async () => {
    await exhaustStrangers("global@budget.example", GLOBAL_AUDIENCE);
    expect((await signIn("global@budget.example", "guess", { address: CAFE }, null)).status).toBe(429);
  });
});

test("an email without an account is counted, queried and rejected like one with an account", async () => {
  const { email } = await newPerson();
  const seen = [];
  for (const address of [email, `${newId(1)}@nobody.example`]) {
    takes.mockClear();
    const wrong = await signIn(address, "guess", { address: "203.0.113.60", device: "tv" });
    const counted = takes.mock.calls.flatMap(([slots]) => slots.map(({ name }) => name));
    await exhaustStrangers(address);
    const rejected = await signIn(address, "guess", { address: "203.0.113.60", device: "tv" });
    const { message, detail } = { detail: undefined, ...wrong.problem };
    seen.push({
      status: wrong.status,
      message,
      detail,
      counted,
      d1: wrong.log.d1,
      rejected: rejected.status,
      why: rejected.problem?.message,
    });
  }
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]).toMatchObject({ status: 401, message: "Wrong email or password", rejected: 429 });
});
