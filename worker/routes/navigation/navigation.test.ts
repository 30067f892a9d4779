import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { type CallOptions, newSite, openSocket, ORIGIN, send, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { operationOf } from "#test/openapi.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { Page } from "#worker/services/pages/schemas.ts";
import { applyNavigation, deleteNavigation } from "#worker/services/navigation/navigation.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Navigation } from "#worker/services/navigation/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const NavigationList = listOf(Navigation);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

function input(change: Record<string, unknown> = {}, on = site): Record<string, unknown> {
  const parents = [{ type: "channel", pageId: on.channels[0], private: false }];
  return { siteId: on.id, name: "Match day", type: "custom", parents, externalLinks: [], ...change };
}

const create = (change: Record<string, unknown> = {}, on = site) => on.call("createNavigation", { body: input(change, on) });
const newNavigation = async (change: Record<string, unknown> = {}, on = site) => (await create(change, on)).as(Navigation);
const update = (id: string, change: Record<string, unknown>, on = site) =>
  on.call("updateNavigation", { params: { id }, body: input(change, on) });
const folder = (name: string, more: Record<string, unknown> = {}) => ({ type: "folder", name, private: false, ...more });

describe("a navigation", () => {
  test("is returned as created, and can be read by its id", async () => {
    const parents = [
      { type: "channel", pageId: site.channels[0], private: false },
      folder("More", {
        children: [{ type: "channel", pageId: site.channels[1], name: "Behind", private: true }, folder("Empty", { children: [] })],
      }),
    ];
    const externalLinks = [{ name: "Tickets", url: "https://demo.example/tickets" }];
    const response = await create({ parents, externalLinks });
    expect(response.as(Navigation)).toMatchObject(input({ parents, externalLinks }));
    const read = await site.call("getNavigation", { params: { id: response.as(Navigation)._id }, as: "developer" });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get("ETag")).toBe(response.headers.get("ETag"));
    expect(read.log.d1).toMatchObject({ roundTrips: 1 });
  });

  test("is written by a site admin's own account too, and by no other account", async () => {
    const { _id } = await newNavigation();
    const call = { params: { id: _id }, body: input({ name: "Studio" }) };
    for (const as of ["reader", "creator", "viewer"] as const) {
      expect((await site.call("createNavigation", { as, body: input() })).status).toBe(403);
      expect((await site.call("updateNavigation", { as, ...call })).status).toBe(403);
      expect((await site.call("deleteNavigation", { as, params: { id: _id } })).status).toBe(403);
    }
    expect((await site.call("createNavigation", { as: "admin", body: input() })).status).toBe(201);
    expect((await site.call("updateNavigation", { as: "admin", ...call })).as(Navigation).name).toBe("Studio");
    expect(
      (await site.call("applyNavigation", { as: "admin", params: { navigationId: _id }, body: { pageId: site.channels[0] } })).status,
    ).toBe(204);
    expect((await site.call("deleteNavigation", { as: "admin", params: { id: _id } })).status).toBe(200);
    const foreign = await newSite();
    const theirs = await newNavigation({}, foreign);
    expect((await site.call("deleteNavigation", { as: "admin", params: { id: theirs._id } })).status).toBe(404);
  });

  test("has entries four levels deep and no deeper", async () => {
    const nested = (levels: number): Record<string, unknown> => folder("Level", levels > 1 ? { children: [nested(levels - 1)] } : {});
    expect((await create({ parents: [nested(4)] })).status).toBe(201);
    expect(await create({ parents: [nested(5)] })).toMatchObject({
      status: 400,
      fields: ["parents.0.children.0.children.0.children.0.children"],
    });
  });

  test("is rejected, without overflowing the stack, if it is nested extremely deep", async () => {
    const deep = '{"type":"folder","name":"a","children":['.repeat(5_000) + "]}".repeat(5_000);
    const headers = { ...(await site.headersOf("developer")), "Content-Type": "application/json" };
    const body = JSON.stringify(input({ parents: [] })).replace('"parents":[]', `"parents":[${deep}]`);
    const response = await send(operationOf("createNavigation"), new URL("/navigation/v1", ORIGIN), { method: "POST", headers, body });
    expect(response).toMatchObject({ status: 400, fields: ["parents.0.children.0.children.0.children.0.children"] });
  });

  test.for<[field: string, change: () => Record<string, unknown>]>([
    ["siteId", () => ({ siteId: newId(1) })],
    ["name", () => ({ name: " " })],
    ["type", () => ({ type: "main" })],
    ["parents.0.type", () => ({ parents: [{ type: "page", pageId: site.channels[0] }] })],
    ["parents.0.pageId", () => ({ parents: [{ type: "channel" }] })],
    ["parents.0.pageId", () => ({ parents: [{ type: "landing" }] })],
    ["parents.0.name", () => ({ parents: [{ type: "folder" }] })],
    ["parents.0.pageId", () => ({ parents: [folder("Folder", { pageId: site.channels[0] })] })],
    ["parents.0.private", () => ({ parents: [folder("Folder", { private: "yes" })] })],
    ["parents.0.children.0.surprise", () => ({ parents: [folder("Folder", { children: [folder("Inner", { surprise: 1 })] })] })],
    ["externalLinks.0.url", () => ({ externalLinks: [{ name: "Tickets", url: "javascript:alert(1)" }] })],
    ["externalLinks.0.name", () => ({ externalLinks: [{ url: "https://demo.example/" }] })],
    // Unknown pages, and pages of another type.
    ["parents.0.children.0.pageId", () => ({ parents: [folder("Folder", { children: [{ type: "channel", pageId: newId(1) }] })] })],
    ["parents.0.pageId", () => ({ parents: [{ type: "landing", pageId: site.channels[0] }] })],
  ])("rejects an invalid %s %#", async ([field, change]) => {
    expect(await create(change())).toMatchObject({ status: 400, fields: [field] });
  });

  test("can't link to a page of another site", async () => {
    const other = await newSite();
    expect(await create({ parents: [{ type: "channel", pageId: other.channels[0] }] })).toMatchObject({
      status: 400,
      fields: ["parents.0.pageId"],
    });
  });

  test("is replaced by PUT, and only one of several updates of the same version succeeds", async () => {
    const { _id } = await newNavigation();
    expect((await update(_id, { name: "Away day", parents: [] })).as(Navigation)).toMatchObject({ name: "Away day", parents: [] });
    const put = (name: string) =>
      site.call("updateNavigation", { params: { id: _id }, body: input({ name }), headers: { "If-Match": '"v2"' } });
    const responses = await Promise.all(["a", "b", "c"].map(put));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("is listed with the site's others, most recently modified first, with filters", async () => {
    const other = await newSite();
    const first = await newNavigation({ name: "First" }, other);
    await newNavigation({ name: "Second", type: "default" }, other);
    await update(first._id, { name: "First" }, other);
    const namesOf = async (query: CallOptions["query"]) => {
      const response = await other.call("listNavigations", { query });
      expect(response.log.d1).toMatchObject({ roundTrips: 1 });
      return response.as(NavigationList).results.map(({ name }) => name);
    };
    expect(await namesOf({})).toEqual(["First", "Second"]);
    expect(await namesOf({ type: "default" })).toEqual(["Second"]);
    expect(await namesOf({ name: "First" })).toEqual(["First"]);
    expect(await namesOf({ search: "SEC" })).toEqual(["Second"]);
  });
});

describe("private entries", () => {
  const hidden = {
    parents: [
      folder("Staff", { private: true, children: [folder("Secret")] }),
      folder("All", { children: [folder("Inner", { private: true }), folder("Shown")] }),
    ],
  };
  const shown = JSON.stringify([folder("All", { children: [folder("Shown")] })]);
  const reads: [operation: string, call: (id: string) => CallOptions][] = [
    ["getNavigation", (id) => ({ params: { id } })],
    ["getDefaultNavigation", () => ({})],
    ["listNavigations", () => ({ query: { type: "default" } })],
  ];

  test.for(reads)("are hidden from callers without a developer key or admin token: %s", async ([operation, call]) => {
    const { _id } = await newNavigation({ ...hidden, type: "default" });
    for (const as of ["client", "viewer", "creator"] as const) {
      const response = await site.call(operation, { ...call(_id), as });
      expect(response.text).toContain(shown);
      expect(response.text).not.toMatch(/Staff|Secret|Inner/);
    }
    for (const as of ["developer", "admin", "reader"] as const) {
      const full = await site.call(operation, { ...call(_id), as });
      for (const name of ["Staff", "Secret", "Inner"]) expect(full.text).toContain(name);
    }
  });

  test.for(reads.slice(0, 2))("change the ETag, so that a cached public menu is not reused: %s", async ([operation, call]) => {
    const { _id } = await newNavigation({ ...hidden, type: "default" });
    const tag = (await site.call(operation, { ...call(_id), as: "client" })).headers.get("ETag") ?? "";
    const again = (as: "client" | "developer") => site.call(operation, { ...call(_id), as, headers: { "If-None-Match": tag } });
    expect((await again("client")).status).toBe(304);
    expect((await again("developer")).text).toContain("Secret");
  });

  test("still require a valid key with the right role", async () => {
    const { _id } = await newNavigation(hidden);
    const read = (key: string) => site.call("getNavigation", { params: { id: _id }, as: "client", headers: { "Tifo-Developer-Key": key } });
    expect((await read("tifo_dev_wrong")).status).toBe(401);
    expect((await read(await site.addKey(["poll:read"]))).status).toBe(403);
    expect((await read(await site.addKey(["navigation:read"]))).text).toContain("Secret");
  });
});

describe("private entries of gated pages", () => {
  let gated: Record<"pass" | "other" | "code" | "open", string>;
  let id: string;
  const entry = (pageId: string, name: string, more = {}) => ({ type: "channel", pageId, name, private: true, ...more });
  const gate = (type: string, skus: string[] = []) => ({ gate: { type, skus } });

  beforeAll(async () => {
    gated = {
      pass: await site.addChannel("for-pass", gate("entitlement", ["nav-pass"])),
      other: await site.addChannel("for-others", gate("entitlement", ["nav-other"])),
      code: await site.addChannel("for-codes", gate("login", ["nav-code"])),
      open: await site.addChannel("for-all"),
    };
    const parents = [
      entry(gated.pass, "Pass", { children: [entry(gated.other, "Below"), folder("Public below", { children: [] })] }),
      entry(gated.other, "Other"),
      entry(gated.code, "Code"),
      entry(gated.open, "Ungated"),
      folder("Crew", { private: true, children: [{ type: "channel", pageId: gated.pass, name: "In crew" }] }),
    ];
    id = (await newNavigation({ parents }))._id;
    await db
      .insert(subscriptions)
      .values({ ...columns(), sku: "nav-pass", name: "Pass", subscriptionProvider: "external", prices: [], tags: [] });
    await site.call("grantSubscription", { body: { accountId: site.accounts.viewer.id, sku: "nav-pass" } });
  });

  const columns = () => ({ id: newId(Date.now()), siteId: site.id, created: 1, modified: 1 });
  const NAMES = ["Pass", "Below", "Public below", "Other", "Code", "Ungated", "Crew", "In crew"];
  const namesFor = async (as: "client" | "viewer" | "creator" | "reader") => {
    const { text } = await site.call("getNavigation", { params: { id }, as });
    return NAMES.filter((name) => text.includes(`"${name}"`));
  };

  test("are shown only to viewers who pass the page's gate", async () => {
    expect(await namesFor("client")).toEqual([]);
    expect(await namesFor("creator")).toEqual([]);
    expect(await namesFor("viewer")).toEqual(["Pass", "Public below"]);
    expect(await namesFor("reader")).toEqual(NAMES);
  });

  test("are read in a constant number of round trips", async () => {
    const parents = Array.from({ length: 60 }, (_, index) => entry(gated.pass, `Many ${index}`));
    const many = await newNavigation({ parents });
    const trips = async (navigationId: string) =>
      (await site.call("getNavigation", { params: { id: navigationId }, as: "viewer" })).log.d1.roundTrips;
    expect(await trips(many._id)).toBe(await trips(id));
  });

  test("are hidden again from a viewer who has lost the entitlement", async () => {
    const account = await site.addAccount("leaver", []);
    const headers = { Authorization: `Bearer ${await site.signIn(account)}` };
    const read = async (tag = "") =>
      site.call("getNavigation", { params: { id }, as: "client", headers: { ...headers, "If-None-Match": tag } });
    await site.call("grantSubscription", { body: { accountId: account.id, sku: "nav-pass" } });
    const before = await read();
    expect(before.text).toContain('"Pass"');
    await site.call("revokeSubscription", { query: { accountId: account.id, sku: "nav-pass" } });
    const after = await read(before.headers.get("ETag") ?? "");
    expect([after.status, after.text.includes('"Pass"')]).toEqual([200, false]);
  });

  test("can't be removed by a caller who was not shown them", async () => {
    const hidden = entry(site.channels[1], "Hidden");
    const shown = { type: "channel", pageId: site.channels[0], name: "Shown", private: false };
    const { _id } = await newNavigation({ parents: [shown, hidden] });
    const params = { id: _id };
    const put = (parents: unknown[], headers = {}) => site.call("updateNavigation", { params, body: input({ parents }), headers });
    expect((await put([shown])).status).toBe(409);
    const publicTag = (await site.call("getNavigation", { params, as: "client" })).headers.get("ETag") ?? "";
    expect((await put([shown], { "If-Match": publicTag })).status).toBe(412);
    expect((await put([{ ...shown, name: "Renamed" }, hidden])).status).toBe(200);
    // Moving an entry or making it public doesn't remove it.
    expect((await put([folder("Folder", { children: [{ ...hidden, private: false }] })])).status).toBe(200);
    expect((await put([shown, hidden])).status).toBe(200);
    const tag = (await site.call("getNavigation", { params, as: "admin" })).headers.get("ETag") ?? "";
    expect((await put([shown], { "If-Match": tag })).status).toBe(200);
  });
});

describe("the default navigation", () => {
  let own: TestSite;

  beforeEach(async () => {
    own = await newSite();
  });

  const current = () => own.call("getDefaultNavigation");
  const defaults = async () => (await own.call("listNavigations", { query: { type: "default" } })).as(NavigationList).results;

  test("is a 404 while the site has none", async () => {
    await newNavigation({}, own);
    expect((await current()).status).toBe(404);
  });

  test("becomes a custom one when a new default is set", async () => {
    const first = await newNavigation({ type: "default" }, own);
    const second = await newNavigation({ type: "default", name: "Second" }, own);
    expect((await current()).as(Navigation)._id).toBe(second._id);
    const demoted = await own.call("getNavigation", { params: { id: first._id }, as: "developer" });
    expect(demoted.as(Navigation).type).toBe("custom");
    expect(demoted.headers.get("ETag")).toBe('"v2"');
    const back = (await update(first._id, { type: "default" }, own)).as(Navigation);
    expect(back.type).toBe("default");
    expect((await current()).body).toEqual(back);
    expect((await update(first._id, { type: "default", name: "Same" }, own)).status).toBe(200);
    expect(await defaults()).toHaveLength(1);
    const { results } = (await own.call("listEvents")).as(EventList);
    expect(results.map(({ type, resource }) => [type, resource])).toEqual([
      ["navigation.created", `navigation/${first._id}`],
      ["navigation.updated", `navigation/${first._id}`],
      ["navigation.created", `navigation/${second._id}`],
      ["navigation.updated", `navigation/${first._id}`],
      ["navigation.updated", `navigation/${second._id}`],
      ["navigation.updated", `navigation/${first._id}`],
    ]);
  });

  test("is unique, however many are created concurrently", async () => {
    for (let round = 0; round < 3; round += 1) {
      const responses = await Promise.all(Array.from({ length: 5 }, () => create({ type: "default" }, own)));
      expect(responses.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
      expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
      expect(await defaults()).toHaveLength(1);
    }
  });

  test("is unique, however many become the default concurrently", async () => {
    await newNavigation({ type: "default" }, own);
    const others = await Promise.all(Array.from({ length: 4 }, () => newNavigation({}, own)));
    const responses = await Promise.all(others.map(({ _id }) => update(_id, { type: "default" }, own)));
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await defaults()).toHaveLength(1);
  });
});

describe("applying a navigation", () => {
  const page = async (id: string) => (await site.call("getPage", { params: { id } })).as(Page);
  const apply = (navigationId: string, pageId: string) => site.call("applyNavigation", { params: { navigationId }, body: { pageId } });

  test("sets it in the page's data, and notifies the channel's viewers", async () => {
    const [channel] = site.channels;
    const { _id } = await newNavigation();
    const viewer = await openSocket(site, channel);
    expect(await apply(_id, channel)).toMatchObject({ status: 204, text: "" });
    expect((await page(channel)).data).toMatchObject({ name: "main-stage", external_field_1: "match-7", navigation: _id });
    expect(await viewer.first("page.updated")).toMatchObject({ data: { data: { navigation: _id } } });
  });

  test("rejects pages and navigations of another site", async () => {
    const other = await newSite();
    const { _id } = await newNavigation();
    const { _id: foreign } = await newNavigation({}, other);
    expect((await apply(_id, other.channels[0])).status).toBe(404);
    expect((await apply(foreign, site.channels[0])).status).toBe(404);
    expect((await apply(_id, newId(1))).status).toBe(404);
  });

  test("is undone when the navigation is deleted, for its own pages only", async () => {
    const [one, two] = site.channels;
    const [first, second] = [await newNavigation(), await newNavigation()];
    await apply(first._id, one);
    await apply(second._id, two);
    expect((await site.call("deleteNavigation", { params: { id: first._id } })).body).toEqual({ success: true, _id: first._id });
    expect((await page(one)).data).not.toHaveProperty("navigation");
    expect((await page(one)).data).toMatchObject({ name: "main-stage", external_field_1: "match-7" });
    expect((await page(two)).data).toMatchObject({ navigation: second._id });
    expect((await site.call("getNavigation", { params: { id: first._id } })).status).toBe(404);
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const logged = results.slice(-2);
    expect(logged.map(({ type, resource }) => [type, resource])).toEqual([
      ["navigation.deleted", `navigation/${first._id}`],
      ["admin.channelUpdated", `page/${one}`],
    ]);
    expect(logged[1]?.data).toEqual(await page(one));
  });

  test("fails and leaves the page unchanged if the navigation is deleted concurrently", async () => {
    const { _id } = await newNavigation();
    const ctx = interruptedContext(site, () => site.call("deleteNavigation", { params: { id: _id } }));
    await expect(applyNavigation(ctx, _id, site.channels[0])).rejects.toMatchObject({ code: "conflict" });
    expect((await page(site.channels[0])).data).not.toHaveProperty("navigation");
  });

  test("is undone, with an event, if the navigation is being deleted concurrently", async () => {
    const { _id } = await newNavigation();
    const ctx = interruptedContext(site, () => apply(_id, site.channels[0]));
    await deleteNavigation(ctx, _id);
    const now = await page(site.channels[0]);
    expect(now.data).not.toHaveProperty("navigation");
    const { results } = (await site.call("listEvents", { query: { limit: 200, types: "admin.channelUpdated" } })).as(EventList);
    expect(results.at(-1)?.data).toEqual(now);
  });
});
