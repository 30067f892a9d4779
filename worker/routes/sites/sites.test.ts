import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { CreatedSite, Site, SiteAsRead } from "#worker/services/sites/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const CLUB_APP = { name: "club-app", jwksUrl: "https://club.example/jwks.json", audience: "tifo" };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newSlug = (): string => `club-${randomHex(5)}`;

function create(change: Record<string, unknown> = {}, email = `${randomHex(6)}@clubs.example`) {
  const body = { name: "Old Dock United", slug: newSlug(), admin: { email, password: PASSWORD, name: "Rex Rival" }, ...change };
  return site.call("createSite", { body });
}

describe("creating a site", () => {
  test("returns the site, its admin and its developer key", async () => {
    const { site: created, admin, developerKey } = (await create()).as(CreatedSite);
    expect(admin).toMatchObject({ siteId: created._id, roles: [{ scope: "*", pageId: [], write: true }] });
    const headers = { "Tifo-Client-Id": created._id, "Tifo-Developer-Key": developerKey };
    expect((await site.call("listAccounts", { as: "nobody", headers })).status).toBe(200);
    const signedIn = await site.call("login", { as: "nobody", body: { email: admin.email, password: PASSWORD, siteId: created._id } });
    expect(signedIn.status).toBe(200);
    const { results } = (await site.call("listEvents", { as: "nobody", headers })).as(EventList);
    expect(results.map(({ type, actor }) => [type, actor])).toEqual([
      ["site.created", "super"],
      ["new_account", "super"],
    ]);
    expect(JSON.stringify(results)).not.toContain(developerKey);
  });

  test("rejects a taken slug and creates nothing", async () => {
    const email = `${randomHex(6)}@clubs.example`;
    const response = await create({ slug: site.slug }, email);
    expect(response.problem).toMatchObject({ status: 409, code: "conflict" });
    expect(await createDb(siteStore).select().from(accounts).where(eq(accounts.email, email))).toEqual([]);
  });

  test.for(["Upper-Case", "two--hyphens", "-first", "last-", "under_score", "späce", ""])("rejects the slug %j", async (slug) => {
    expect(await create({ slug })).toMatchObject({ status: 400, fields: ["slug"] });
  });

  test("doesn't link an admin of several sites to a global account", async () => {
    const email = `${randomHex(6)}@clubs.example`;
    const created = [(await create({}, email)).as(CreatedSite), (await create({}, email)).as(CreatedSite)];
    expect(created.map(({ admin }) => admin.globalAccountID)).toEqual([null, null]);
    expect((await site.call("login", { as: "nobody", body: { email, password: PASSWORD } })).status).toBe(401);
  });
});

const VIP = { vip: { name: "VIP", filter: { attribute: "tags", operator: "any_of", value: ["tier:gold"] } } };

describe("reading a site", () => {
  const PRIVATE = ["shards", "tags", "devicelimit", "contractServiceChargeRate", "adminTheme"];
  const PRIVATE_SETTINGS = ["security", "userSegments", "events", "email", "customEmails"];

  test("returns the public part to viewers, and everything to managers", async () => {
    const own = await newSite();
    await own.call("replaceSiteFeatures", {
      params: { siteId: own.id },
      body: { features: { polls: true }, contractServiceChargeRate: 250 },
    });
    const settings = {
      security: { allowedOrigins: ["https://demo.example"], providers: [CLUB_APP] },
      ...{ userSegments: VIP, events: { a: 1 }, email: { from: "box@demo.example" }, customEmails: { a: 1 } },
      ...{ localization: { language: "en" }, seo: { title: "Harbour City" }, code_injection: { head: "" }, domain: "demo.example" },
    };
    await own.call("updateSite", { body: { name: "Harbour City", settings, tags: ["internal"], shards: ["eu-1"] } });
    for (const as of ["client", "viewer", "creator"] as const) {
      const response = await own.call("getSite", { as });
      const shown = response.as(SiteAsRead);
      expect(shown).toMatchObject({ _id: own.id, features: { polls: true } });
      expect(PRIVATE.filter((field) => field in shown)).toEqual([]);
      expect(Object.keys(shown.settings).sort()).toEqual(["code_injection", "domain", "localization", "seo"]);
      for (const secret of ["allowedOrigins", "jwksUrl", "internal", "box@demo.example", "contractServiceChargeRate"])
        expect(response.text).not.toContain(secret);
    }
    for (const as of ["developer", "admin", "reader"] as const) {
      const shown = (await own.call("getSite", { as })).as(SiteAsRead);
      expect(PRIVATE.filter((field) => !(field in shown))).toEqual([]);
      expect(PRIVATE_SETTINGS.filter((field) => !(field in shown.settings))).toEqual([]);
      expect(shown).toMatchObject({ contractServiceChargeRate: 250, tags: ["internal"] });
    }
  });

  test("rejects a change based on the public part with 412, because it would drop the rest", async () => {
    const own = await newSite();
    const tag = (await own.call("getSite", { as: "client" })).headers.get("ETag") ?? "";
    const response = await own.call("updateSite", { body: { name: "Harbour City" }, headers: { "If-Match": tag } });
    expect(response.status).toBe(412);
    expect((await own.call("getSite", { as: "client", headers: { "If-None-Match": tag } })).status).toBe(304);
  });

  test("returns the service charge rate set by the operator, and keeps it when only features are replaced", async () => {
    const own = await newSite();
    const put = (body: Record<string, unknown>) => own.call("replaceSiteFeatures", { params: { siteId: own.id }, body });
    expect((await put({ features: {}, contractServiceChargeRate: 10_001 })).fields).toEqual(["contractServiceChargeRate"]);
    expect((await put({ features: {}, contractServiceChargeRate: 300 })).as(Site).contractServiceChargeRate).toBe(300);
    expect((await put({ features: { polls: true } })).as(Site).contractServiceChargeRate).toBe(300);
    expect((await put({ features: {}, contractServiceChargeRate: null })).as(Site).contractServiceChargeRate).toBeNull();
  });
});

describe("changing a site", () => {
  test("replaces its own settings, keeps an omitted slug, and leaves the operator's part unchanged", async () => {
    const own = await newSite();
    const before = (await own.call("getSite", { as: "developer" })).as(Site);
    const changed = (await own.call("updateSite", { body: { name: "Harbour City", tags: ["football"], devicelimit: 5 } })).as(Site);
    expect(changed).toMatchObject({ name: "Harbour City", slug: before.slug, tags: ["football"], devicelimit: 5, features: {} });
    expect(changed.settings.security.allowedOrigins).toEqual([]);
    const response = await own.call("getSite", { as: "developer" });
    expect(response.as(Site)).toEqual(changed);
    const bare = (await own.call("updateSite", { body: { name: "Harbour City" } })).as(Site);
    expect(bare).toMatchObject({ tags: [], devicelimit: 3, collections: [] });
  });

  test.for<[path: string, value: unknown]>([
    ["features", {}],
    ["contractServiceChargeRate", 100],
    ["settings.billing", { billing: { stripeAccount: "acct_victim" } }],
    ["siteId", "5eed00000000000000000002"],
    ["settings.security.allowedOrigins.0", { security: { allowedOrigins: ["https://demo.example/path"] } }],
    ["settings.security.allowedOrigins.0", { security: { allowedOrigins: ["javascript:alert(1)"] } }],
    ["settings.security.providers", { security: { providers: [CLUB_APP, { ...CLUB_APP, audience: "another" }] } }],
    ["settings.surprise", { surprise: true }],
    ["settings.security.allowedOrigins.0", { security: { allowedOrigins: ["nonsense"] } }],
    ["devicelimit", 0],
    ["devicelimit", 101],
    ["style", nested(11)],
    ["style", { large: "a".repeat(65 * 1024) }],
  ])("rejects %s", async ([path, value]) => {
    const field = path.split(".")[0] ?? "";
    const response = await site.call("updateSite", { body: { name: "Harbour City", [field]: value } });
    expect(response).toMatchObject({ status: 400, fields: [path] });
  });

  test("stores free-form JSON of ten levels unchanged", async () => {
    const style = nested(10);
    expect((await site.call("updateSite", { body: { name: "Harbour City", style } })).as(Site).style).toEqual(style);
  });

  test("rejects the slug of another site", async () => {
    const other = await newSite();
    expect((await site.call("updateSite", { body: { name: "Harbour City", slug: other.slug } })).problem).toMatchObject({ status: 409 });
  });

  test("accepts only one of two concurrent changes of the same version", async () => {
    const version = (await site.call("getSite", { as: "developer" })).headers.get("ETag") ?? "";
    const change = (name: string) => site.call("updateSite", { body: { name }, headers: { "If-Match": version } });
    const responses = await Promise.all([change("One"), change("Two")]);
    const statuses = responses.map((response) => response.status).sort();
    expect(statuses[0]).toBe(200);
    expect([409, 412]).toContain(statuses[1]);
    expect((await change("Three")).problem).toMatchObject({ status: 412, code: "precondition_failed" });
  });
});

function nested(depth: number): Record<string, unknown> {
  return depth === 1 ? { level: 1 } : { level: nested(depth - 1) };
}
