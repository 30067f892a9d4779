import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { grantEntitlement } from "#worker/services/subscriptions/entitlements.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const AccountList = listOf(Account);

let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  [site, other] = [await newSite(), await newSite()];
});

const newEmail = (): string => `${randomHex(6)}@viewers.example`;
const signUp = (change: Record<string, unknown> = {}, on = site) =>
  on.call("createAccount", { body: { email: newEmail(), password: PASSWORD, name: "Vera Viewer", ...change } });

describe("signing up", () => {
  test("creates a viewer without roles who can sign in", async () => {
    const email = newEmail();
    const account = (await signUp({ email, marketingOptin: true })).as(Account);
    expect(account).toMatchObject({
      uid: account._id,
      siteId: site.id,
      email,
      roles: [],
      tags: [],
      subscriptions: [],
      marketingOptin: true,
      lastLogin: null,
    });
    expect(account.hash).toBe(await sha256(email));
    expect((await site.call("login", { as: "client", body: { email, password: PASSWORD, siteId: site.id } })).status).toBe(200);
  });

  test("defaults to no marketing consent", async () => {
    expect((await signUp()).as(Account).marketingOptin).toBe(false);
  });

  test("without a consent takes the site's default at that moment, in one round trip", async () => {
    const own = await newSite();
    const setDefault = (value: boolean) =>
      own.call("updateSite", { body: { name: "Own", settings: { security: {}, loginMarketingOptIn: { shown: true, default: value } } } });
    await setDefault(true);
    expect((await signUp({}, own)).as(Account).marketingOptin).toBe(true);
    const again = await signUp({}, own);
    expect([again.as(Account).marketingOptin, again.log.d1?.roundTrips]).toEqual([true, 1]);
    await setDefault(false);
    const after = (await signUp({}, own)).as(Account);
    expect(after.marketingOptin).toBe(false);
    expect((await own.call("getAccount", { params: { id: after._id } })).as(Account).marketingOptin).toBe(false);
    expect((await signUp({ marketingOptin: true }, own)).as(Account).marketingOptin).toBe(true);
  });

  test("stores the address in lower case, and the name without accents for searching", async () => {
    const email = newEmail();
    const account = (await signUp({ email: email.toUpperCase(), name: "  Zoë Müller " })).as(Account);
    expect(account).toMatchObject({ email, name: "Zoë Müller", normalizedName: "zoe muller" });
  });

  test("rejects an address that exists on the site regardless of case, also in concurrent requests", async () => {
    const email = newEmail();
    const responses = await Promise.all([signUp({ email }), signUp({ email: email.toUpperCase() })]);
    expect(responses.map((response) => response.status).sort()).toEqual([201, 409]);
    expect((await signUp({ email })).problem).toMatchObject({ status: 409, code: "conflict" });
    expect((await signUp({ email }, other)).status).toBe(201);
  });

  test.for<[field: string, value: unknown]>([
    ["email", "not an address"],
    ["email", `${"a".repeat(250)}@x.example`],
    ["email", "5eed0000000000000000a001@No-Mail.invalid"],
    ["password", "short"],
    ["password", "p".repeat(201)],
    ["name", "   "],
    ["name", "Vera\nVisit https://evil.example"],
    ["name", "n".repeat(201)],
    ["marketingOptin", "yes"],
    ["roles", [{ scope: "*", pageId: [], write: true }]],
    ["tags", ["vip:yes"]],
  ])("rejects %s %j and names the field", async ([field, value]) => {
    const response = await signUp({ [field]: value });
    expect(response).toMatchObject({ status: 400, fields: [field] });
  });

  test("emits new_account without the password", async () => {
    const own = await newSite();
    const account = (await signUp({}, own)).as(Account);
    const { results } = (await own.call("listEvents", { query: { types: "new_account" } })).as(EventList);
    expect(results).toMatchObject([
      { type: "new_account", resource: `account/${account._id}`, data: account, actor: "anonymous", sequence: 1 },
    ]);
    expect(JSON.stringify(results)).not.toMatch(/scrypt|password/i);
  });
});

describe("reading an account", () => {
  test("is allowed for the account itself, admins and keys", async () => {
    const { viewer, creator } = site.accounts;
    const read = (as: "viewer" | "creator" | "reader" | "admin" | "developer", id: string) =>
      site.call("getAccount", { as, params: { id } });
    expect((await read("viewer", viewer.id)).as(Account).email).toBe(viewer.email);
    for (const as of ["reader", "admin", "developer"] as const) expect((await read(as, viewer.id)).status).toBe(200);
    expect((await read("viewer", creator.id)).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await read("creator", viewer.id)).status).toBe(403);
  });

  test("returns an ETag, and 304 if it matches", async () => {
    const params = { id: site.accounts.viewer.id };
    const tag = (await site.call("getAccount", { params })).headers.get("ETag") ?? "";
    const response = await site.call("getAccount", { params, headers: { "If-None-Match": tag } });
    expect([response.status, response.text, response.headers.get("ETag")]).toEqual([304, "", tag]);
  });

  test("changes its ETag after a grant or a sign-in, and that ETag is valid for an update", async () => {
    const own = await newSite();
    const { viewer } = own.accounts;
    const params = { id: viewer.id };
    const read = (tag = "") => own.call("getAccount", { params, headers: { "If-None-Match": tag } });
    const first = (await read()).headers.get("ETag") ?? "";
    const ctx = { env, db: createDb(siteStore), now: Date.now() };
    await asSystem(ctx, own.id, (as) => grantEntitlement(as, { accountId: viewer.id, sku: "vip", grantedMethod: "customerService" }));
    const second = await read(first);
    expect([second.status, second.as(Account).subscriptions]).toEqual([200, ["vip"]]);
    await own.call("login", { as: "client", body: { email: viewer.email, password: PASSWORD, siteId: own.id } });
    const third = await read(second.headers.get("ETag") ?? "");
    expect(third.as(Account).lastLogin).not.toBeNull();
    const headers = { "If-Match": third.headers.get("ETag") ?? "" };
    expect((await own.call("updateAccount", { params, headers, body: { name: "Vera" } })).status).toBe(200);
    expect((await own.call("updateAccount", { params, headers, body: { name: "Vera" } })).status).toBe(412);
  });
});

describe("listing accounts", () => {
  test("searches name and address case-insensitively, within the site only", async () => {
    const own = await newSite();
    await own.addAccount("Paula Penalty", []);
    const found = (search: string) =>
      own.call("listAccounts", { query: { search } }).then((response) => response.as(AccountList).results.map(({ name }) => name));
    expect(await found("PENAL")).toEqual(["Paula Penalty"]);
    expect(await found("admin@")).toEqual(["admin"]);
    expect(await found("% or 1=1")).toEqual([]);
    expect(await found("_")).toEqual([]);
    const { results, pagination } = (await own.call("listAccounts")).as(AccountList);
    expect(new Set(results.map(({ siteId }) => siteId))).toEqual(new Set([own.id]));
    expect(pagination).toMatchObject({
      limit: 50,
      offset: 0,
      totalCount: 5,
      pageResults: 5,
      sortBy: "created",
      sortDirection: -1,
      searchFields: ["name", "email"],
    });
  });

  test("finds a name with or without accents and regardless of case, as does queryRoles", async () => {
    const own = await newSite();
    await own.addAccount("Zoë Müller", []);
    for (const operationId of ["listAccounts", "queryRoles"]) {
      for (const search of ["zoe", "ZOË", "mÜLLER"]) {
        const { results, pagination } = (await own.call(operationId, { query: { search } })).as(AccountList);
        expect([search, results.map(({ name }) => name)]).toEqual([search, ["Zoë Müller"]]);
        expect(pagination).toMatchObject({ search, searchFields: ["name", "email"] });
      }
    }
  });

  test("filters by exact email address", async () => {
    const query = { email: site.accounts.viewer.email.toUpperCase() };
    expect((await site.call("listAccounts", { query })).as(AccountList).results.map(({ _id }) => _id)).toEqual([site.accounts.viewer.id]);
  });
});
