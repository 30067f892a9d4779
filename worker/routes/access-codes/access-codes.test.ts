import { exports } from "cloudflare:workers";
import { and, count, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { exhaustLimit } from "#test/limit-usage.ts";
import { type ApiResponse, type CallOptions, newSite, ORIGIN, type TestAccount, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { LIMITS } from "#worker/lib/limits.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { AccessCode, BulkResult, Redeemed } from "#worker/services/access-codes/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const Codes = listOf(AccessCode);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

interface NewCode {
  accessCode?: string;
  sku?: string;
  type?: "subscription" | "login";
  tags?: string;
}

async function add({
  accessCode = `GIFT-${randomHex(6)}`,
  sku = `sku-${randomHex(4)}`,
  type = "subscription",
  tags,
}: NewCode = {}): Promise<ApiResponse> {
  await addSkus(site, sku);
  return site.call("addAccessCode", { query: { accessCode, siteId: site.id, sku, type, ...(tags === undefined ? {} : { tags }) } });
}

async function added(code: NewCode = {}) {
  return (await add(code)).as(AccessCode);
}

let people = 0;

function newViewer(): Promise<TestAccount> {
  return site.addAccount(`fan-${++people}`, []);
}

async function redeem(account: TestAccount, accessCode: string) {
  const headers = { Authorization: `Bearer ${await site.signIn(account)}` };
  return (await site.call("consumeAccessCode", { as: "client", params: { accessCode }, headers })).as(Redeemed);
}

async function skusOf(account: TestAccount): Promise<string[]> {
  return (await site.call("getAccount", { params: { id: account.id } })).as(Account).subscriptions;
}

function entitlementsOf(account: TestAccount) {
  return db.select().from(accountEntitlements).where(eq(accountEntitlements.accountId, account.id));
}

async function eventsOf(resource: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource === resource).map((event) => event.type);
}

describe("an added access code", () => {
  test("is returned as given, and can be read by its id", async () => {
    const code = await added({ accessCode: "Kick-Off.2026", sku: "derby", tags: "press, season-2026" });
    expect(code).toMatchObject({
      accessCode: "Kick-Off.2026",
      siteId: site.id,
      sku: "derby",
      type: "subscription",
      accountId: null,
      consumedAt: null,
    });
    expect(code.tags).toEqual(["press", "season-2026"]);
    const again = await site.call("getAccessCode", { params: { id: code._id } });
    expect(again.as(AccessCode)).toEqual(code);
    expect(again.headers.get("ETag")).toBe('"v1"');
  });

  test("is unique within its site regardless of case, and available on another site", async () => {
    const { accessCode } = await added();
    const second = await add({ accessCode: accessCode.toLowerCase() });
    expect(second.problem?.code).toBe("conflict");
    const other = await newSite();
    await addSkus(other, "derby");
    const query = { accessCode, siteId: other.id, sku: "derby", type: "login" };
    expect((await other.call("addAccessCode", { query })).status).toBe(200);
  });

  test("is rejected if siteId names another site", async () => {
    const query = { accessCode: "ELSEWHERE", siteId: (await newSite()).id, sku: "derby", type: "login" };
    const { problem } = await site.call("addAccessCode", { query });
    expect(problem?.issues?.[0]?.path).toBe("siteId");
  });

  test("appears in the event log without the code itself", async () => {
    const code = await added();
    const { text } = await site.call("listEvents", { query: { limit: 200 } });
    expect(await eventsOf(`accesscode/${code._id}`)).toEqual(["accesscode.created"]);
    expect(text).not.toContain(code.accessCode);
  });

  test("can't be read after it is deleted, but what it granted stays", async () => {
    const code = await added();
    const fan = await newViewer();
    await redeem(fan, code.accessCode);
    expect((await site.call("deleteAccessCode", { params: { id: code._id } })).body).toEqual({ success: true, _id: code._id });
    expect((await site.call("getAccessCode", { params: { id: code._id } })).status).toBe(404);
    expect(await skusOf(fan)).toEqual([code.sku]);
  });
});

describe("the list of access codes", () => {
  test("filters by sku, type and tags, and searches codes case-insensitively", async () => {
    const sku = `list-${randomHex(4)}`;
    const a = await added({ sku, tags: "press,vip" });
    const b = await added({ sku, type: "login", tags: "press" });
    const ids = async (query: CallOptions["query"]) =>
      (await site.call("listAccessCodes", { query })).as(Codes).results.map((code) => code._id);
    expect(await ids({ sku })).toEqual([b._id, a._id]);
    expect(await ids({ sku, type: "login" })).toEqual([b._id]);
    expect(await ids({ sku, tags: "press" })).toEqual([b._id, a._id]);
    expect(await ids({ sku, tags: "vip,press" })).toEqual([a._id]);
    expect(await ids({ sku, tags: "vi" })).toEqual([]);
    expect(await ids({ search: a.accessCode.toLowerCase() })).toEqual([a._id]);
  });
});

describe("a redeemed subscription code", () => {
  test("grants its sku to the account that redeems it, regardless of case, once", async () => {
    const code = await added();
    const fan = await newViewer();
    expect(await redeem(fan, ` ${code.accessCode.toLowerCase()} `)).toEqual({ success: true, message: `Redeemed: ${code.sku}` });
    expect(await skusOf(fan)).toEqual([code.sku]);
    const [entitlement, ...more] = await entitlementsOf(fan);
    expect(more).toEqual([]);
    expect(entitlement).toMatchObject({ sku: code.sku, grantedMethod: "accessCode", status: "active", source: `accesscode/${code._id}` });
    expect(await eventsOf(`accesscode/${code._id}`)).toEqual(["accesscode.created", "accesscode.consumed"]);
    expect(await eventsOf(`entitlement/${entitlement?.id}`)).toEqual(["entitlement_granted"]);
    const kept = (await site.call("getAccessCode", { params: { id: code._id } })).as(AccessCode);
    expect(kept.consumedAt).toBe(entitlement?.dateGranted);
    expect(kept.accountId).toBeNull();
  });

  test("gives the reason when it fails: unknown, already redeemed, used by someone else, already held", async () => {
    const [one, other] = [await newViewer(), await newViewer()];
    const first = await added();
    const second = await added({ sku: first.sku });
    await redeem(one, first.accessCode);
    expect(await redeem(one, "NO-SUCH-CODE")).toEqual({ success: false, message: "This access code doesn't exist" });
    expect(await redeem(one, first.accessCode)).toEqual({ success: false, message: "You have already redeemed this access code" });
    expect(await redeem(other, first.accessCode)).toEqual({ success: false, message: "Someone else has already used this access code" });
    expect(await redeem(one, second.accessCode)).toEqual({
      success: false,
      message: "You already have what this code grants; the code is still unused",
    });
    expect((await redeem(other, second.accessCode)).success).toBe(true);
  });

  test("is unknown on another site", async () => {
    const { accessCode } = await added();
    const other = await newSite();
    const response = await other.call("consumeAccessCode", { as: "viewer", params: { accessCode } });
    expect(response.as(Redeemed).message).toBe("This access code doesn't exist");
  });

  test("is granted to one of many accounts that redeem it concurrently", async () => {
    const code = await added();
    const fans = await Promise.all(Array.from({ length: 6 }, newViewer));
    const responses = await Promise.all(fans.map((fan) => redeem(fan, code.accessCode)));
    expect(responses.filter((response) => response.success)).toHaveLength(1);
    for (const response of responses)
      if (!response.success) expect(response.message).toBe("Someone else has already used this access code");
    const holders = await Promise.all(fans.map(skusOf));
    expect(holders.filter((skus) => skus.length > 0)).toEqual([[code.sku]]);
    expect(await eventsOf(`accesscode/${code._id}`)).toEqual(["accesscode.created", "accesscode.consumed"]);
  });

  test("grants a sku once, even if one account redeems two codes for it concurrently", async () => {
    const fan = await newViewer();
    const first = await added();
    const second = await added({ sku: first.sku });
    const responses = await Promise.all([first, second].map((code) => redeem(fan, code.accessCode)));
    expect(responses.map((response) => response.success).sort()).toEqual([false, true]);
    expect(await entitlementsOf(fan)).toHaveLength(1);
    const unspent = await db
      .select({ n: count() })
      .from(accessCodes)
      .where(and(eq(accessCodes.siteId, site.id), eq(accessCodes.sku, first.sku), eq(accessCodes.accountId, fan.id)));
    expect(unspent[0]?.n).toBe(1);
  });

  test("can't be guessed: after too many unknown codes that account is rate limited, others aren't", async () => {
    const [guesser, honest] = [await newViewer(), await newViewer()];
    const code = await added();
    const headers = { Authorization: `Bearer ${await site.signIn(guesser)}` };
    const guess = (accessCode: string) => site.call("consumeAccessCode", { as: "client", params: { accessCode }, headers });
    for (let i = 0; i < LIMITS.redeem.quota; i++) expect((await guess(`GUESS-${i}`)).as(Redeemed).success).toBe(false);
    const limited = await guess(code.accessCode);
    expect(limited.problem?.code).toBe("rate_limited");
    expect(Number(limited.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await redeem(honest, code.accessCode)).success).toBe(true);
  });

  test("can't be guessed with many accounts: their address is rate limited, then every account that has guessed wrong", async () => {
    const own = await newSite();
    const as = async (account: TestAccount, accessCode: string, address: string) => {
      const headers = { Authorization: `Bearer ${await own.signIn(account)}`, "CF-Connecting-IP": address };
      return (await own.call("consumeAccessCode", { as: "client", params: { accessCode }, headers })).status;
    };
    const [one, two, three] = [await own.addAccount("one", []), await own.addAccount("two", []), await own.addAccount("three", [])];
    expect(await as(one, "GUESS", "198.51.100.50")).toBe(200);
    await exhaustLimit(own.id, "miss", "198.51.100.50");
    expect(await as(two, "GUESS", "198.51.100.50")).toBe(429);
    await exhaustLimit(own.id, "guessAccessCode", "");
    expect(await as(one, "GUESS", "198.51.100.51")).toBe(429);
    expect(await as(three, "GUESS", "198.51.100.52")).toBe(200);
  });

  test("doesn't count against the guess limit when it is right", async () => {
    const fan = await newViewer();
    const codes = await Promise.all(Array.from({ length: LIMITS.redeem.quota + 2 }, () => added()));
    for (const { accessCode } of codes) expect((await redeem(fan, accessCode)).success).toBe(true);
  });
});

describe("a redeemed login code", () => {
  test("is bound to its account and grants no entitlement", async () => {
    const code = await added({ type: "login" });
    const fan = await newViewer();
    expect((await redeem(fan, code.accessCode)).success).toBe(true);
    expect((await site.call("getAccessCode", { params: { id: code._id } })).as(AccessCode).accountId).toBe(fan.id);
    expect(await skusOf(fan)).toEqual([]);
  });

  test("stays unused if the account has already redeemed one for the same sku", async () => {
    const [first, second] = [await added({ type: "login", sku: "gate-7" }), await added({ type: "login", sku: "gate-7" })];
    const [fan, friend] = [await newViewer(), await newViewer()];
    expect((await redeem(fan, first.accessCode)).success).toBe(true);
    expect(await redeem(fan, second.accessCode)).toEqual({
      success: false,
      message: "You already have what this code grants; the code is still unused",
    });
    expect((await redeem(friend, second.accessCode)).success).toBe(true);
  });
});

describe("bulk access codes", () => {
  // Other suites read every row of the table.
  afterAll(() => db.delete(accessCodes).where(eq(accessCodes.siteId, site.id)));

  const create = async (body: { qty: unknown; sku: string; tags?: string[] }, headers: Record<string, string> = {}) => {
    await addSkus(site, body.sku);
    return site.call("createAccessCodes", { body, headers });
  };

  test("are as many as requested, distinct, and stored as returned", async () => {
    const sku = `bulk-${randomHex(4)}`;
    const { qty, accessCodes: codes } = (await create({ qty: 10_001, sku, tags: ["press"] })).as(BulkResult);
    expect(qty).toBe(10_001);
    expect(new Set(codes).size).toBe(10_001);
    const kept = await db.select().from(accessCodes).where(eq(accessCodes.sku, sku));
    expect(new Set(kept.map((row) => row.accessCode))).toEqual(new Set(codes));
    expect(new Set(kept.map((row) => row.id.length))).toEqual(new Set([24]));
    const [row] = kept;
    expect(row).toMatchObject({ siteId: site.id, type: "subscription", tags: ["press"], accountId: null, version: 1 });
    const { results } = (await site.call("listAccessCodes", { query: { sku, limit: 1 } })).as(Codes);
    expect(results).toHaveLength(1);
  });

  test("can be redeemed", async () => {
    const sku = `bulk-${randomHex(4)}`;
    const [code = ""] = (await create({ qty: 1, sku })).as(BulkResult).accessCodes;
    const fan = await newViewer();
    expect((await redeem(fan, code)).success).toBe(true);
    expect(await skusOf(fan)).toEqual([sku]);
  });

  test("are also returned as CSV, with the sku escaped against spreadsheet formulas", async () => {
    const headers = { ...(await site.headersOf("developer")), "Content-Type": "application/json" };
    await addSkus(site, '=1+"a",b');
    const body = JSON.stringify({ qty: 5_001, sku: '=1+"a",b' });
    const response = await exports.default.fetch(`${ORIGIN}/accesscode/v1/bulk?kind=csv`, { method: "POST", headers, body });
    expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    const [head, ...lines] = (await response.text()).split("\r\n");
    expect(head).toBe("accessCode,sku");
    expect(lines.pop()).toBe("");
    expect(lines).toHaveLength(5_001);
    for (const line of [lines[0], lines[5_000]]) expect(line).toMatch(/^[2-9A-Z]{12},"'=1\+""a"",b"$/);
  });

  test("are created once per Idempotency-Key, and returned again to a repeated request", async () => {
    const sku = `bulk-${randomHex(4)}`;
    const headers = { "Idempotency-Key": randomHex(8) };
    const first = await create({ qty: 12_345, sku }, headers);
    const again = await create({ qty: 12_345, sku }, headers);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    const [kept] = await db.select({ n: count() }).from(accessCodes).where(eq(accessCodes.sku, sku));
    expect(kept?.n).toBe(12_345);
    expect((await create({ qty: 12_346, sku }, headers)).problem?.code).toBe("idempotency_mismatch");
  });

  test("are all created or none, if one of them already exists", async () => {
    const draw = crypto.getRandomValues.bind(crypto);
    const drawn = vi.spyOn(crypto, "getRandomValues");
    // Both batches use one seed, so each code of the first is in the second.
    drawn.mockImplementation((array) => (array instanceof Uint8Array && array.length === 16 ? array.fill(7) : draw(array)));
    onTestFinished(() => drawn.mockRestore());
    const sku = `bulk-${randomHex(4)}`;
    expect((await create({ qty: 1, sku: "first" })).status).toBe(200);
    expect((await create({ qty: 20_000, sku })).problem?.code).toBe("conflict");
    const [kept] = await db.select({ n: count() }).from(accessCodes).where(eq(accessCodes.sku, sku));
    expect(kept?.n).toBe(0);
  });

  test("take one statement per 10,000 codes, one for the event and one for the sku, in one batch after authentication", async () => {
    const { log } = await create({ qty: 20_001, sku: "counted" });
    expect(log.d1).toEqual({ roundTrips: 2, statements: 1 + 3 + 1 + 1 });
  });

  test.for([0, -1, 1.5, 100_001, "7"])("reject a quantity of %s", async (qty) => {
    const { problem } = await create({ qty, sku: "any" });
    expect(problem?.issues?.[0]?.path).toBe("qty");
  });
});
