import { eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { apiKeys } from "#db/schema/sites.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { operations } from "#test/openapi.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ApiKey, ApiKeyWithSecret, KEY_AREAS } from "#worker/services/sites/api-key-schemas.ts";
import { Site, SiteAsRead } from "#worker/services/sites/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const ApiKeyList = z.object({ results: z.array(ApiKey) });
const DAY = 86_400_000;
const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const create = (body: Record<string, unknown> = {}, on = site): Promise<ApiResponse> =>
  on.call("createApiKey", { body: { name: "Scoreboard", ...body } });

const rotate = (id: string, headers = {}): Promise<ApiResponse> => site.call("rotateApiKey", { params: { id }, headers });

/** The statuses of a read and of a write with a key. */
async function works(key: string, on = site): Promise<[read: number, write: number]> {
  const call = async (operationId: string, body?: unknown): Promise<number> =>
    (await on.call(operationId, { as: "client", headers: { "Tifo-Developer-Key": key }, body })).status;
  return [await call("listOverlays"), await call("clearBroadcasts", {})];
}

async function rowOf(id: string): Promise<typeof apiKeys.$inferSelect | undefined> {
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.id, id));
  return row;
}

describe("creating a key", () => {
  test("returns it once, stores only its hash, and it works", async () => {
    const response = await create({ clientName: "Match-day desk" });
    const created = response.as(ApiKeyWithSecret);
    expect(created).toMatchObject({
      siteId: site.id,
      clientName: "Match-day desk",
      roles: ["*"],
      expirationTime: null,
      createdBy: site.accounts.admin.id,
      previousKeyExpires: null,
    });
    expect(created.key).toMatch(/^tifo_dev_[\w-]{32}$/);
    expect(await works(created.key)).toEqual([200, 200]);
    expect(await rowOf(created._id)).toMatchObject({ hash: await sha256(created.key) });
    const { results } = (await site.call("listEvents")).as(EventList);
    const event = results.find(({ type, resource }) => type === "site.apiKeyCreated" && resource === `apikey/${created._id}`);
    expect(event?.data).toMatchObject({ name: "Scoreboard" });
    const shown = `${JSON.stringify(results)}${(await site.call("listApiKeys")).text}${JSON.stringify(response.log)}`;
    for (const secret of [created.key, await sha256(created.key)]) expect(shown).not.toContain(secret);
  });

  test("doesn't return it again for a repeated Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": "one-key" };
    const first = await site.call("createApiKey", { body: { name: "Once" }, headers });
    const again = await site.call("createApiKey", { body: { name: "Once" }, headers });
    expect(again.text).not.toContain(first.as(ApiKeyWithSecret).key);
    expect(await db.select().from(apiKeys).where(eq(apiKeys.name, "Once"))).toHaveLength(1);
  });

  test("limits it to its roles", async () => {
    expect(await works((await create({ roles: ["overlay:read"] })).as(ApiKeyWithSecret).key)).toEqual([200, 403]);
    expect(await works((await create({ roles: ["overlay:write"] })).as(ApiKeyWithSecret).key)).toEqual([200, 200]);
    expect(await works((await create({ roles: ["page:write", "poll:read"] })).as(ApiKeyWithSecret).key)).toEqual([403, 403]);
  });

  test("lets it expire at its expiration time", async () => {
    const { _id, key } = (await create({ expirationTime: Date.now() + DAY })).as(ApiKeyWithSecret);
    expect(await works(key)).toEqual([200, 200]);
    await db
      .update(apiKeys)
      .set({ expires: Date.now() - 1 })
      .where(eq(apiKeys.id, _id));
    expect(await works(key)).toEqual([401, 401]);
  });

  test.for<[string, unknown]>([
    ["name", " "],
    ["roles", []],
    ["roles", ["overlay"]],
    ["roles", ["overlay:delete"]],
    ["roles", ["*:read"]],
    ["roles", ["pages:write"]],
    ["expirationTime", 1],
    ["expirationTime", "tomorrow"],
    ["key", "tifo_dev_chosen"],
  ])("rejects %s %j", async ([field, value]) => {
    const response = await create({ [field]: value });
    expect(response.status).toBe(400);
    expect(response.fields.map((path) => path.split(".")[0])).toEqual([field]);
  });
});

test("the areas of a key's roles match the operations that accept a key", () => {
  const taking = operations.filter(({ security }) => security.some((set) => set.includes("developer")));
  // `roles` isn't in any path: changing roles requires it in addition to the operation's own area.
  expect(new Set(KEY_AREAS)).toEqual(new Set([...taking.map(({ path }) => path.split("/")[1]), "roles"]));
  expect(new Set(KEY_AREAS).size).toBe(KEY_AREAS.length);
});

describe("rotating a key", () => {
  test("keeps the previous secret working for a day beside the new one", async () => {
    const created = (await create()).as(ApiKeyWithSecret);
    const requestedAt = Date.now();
    const response = await rotate(created._id);
    const rotated = response.as(ApiKeyWithSecret);
    expect(response.log.d1.roundTrips).toBe(2);
    expect(rotated).toMatchObject({ _id: created._id, name: "Scoreboard" });
    expect(rotated.previousKeyExpires).toBeGreaterThanOrEqual(requestedAt + DAY);
    expect(rotated.previousKeyExpires).toBeLessThanOrEqual(Date.now() + DAY);
    expect(rotated.key).not.toBe(created.key);
    expect([await works(created.key), await works(rotated.key)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    await db
      .update(apiKeys)
      .set({ previousExpires: Date.now() - 1 })
      .where(eq(apiKeys.id, created._id));
    expect([await works(created.key), await works(rotated.key)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
  });

  test("invalidates the secret from before the previous rotation", async () => {
    const first = (await create()).as(ApiKeyWithSecret);
    const second = (await rotate(first._id)).as(ApiKeyWithSecret);
    const third = (await rotate(first._id)).as(ApiKeyWithSecret);
    expect((await Promise.all([first, second, third].map(({ key }) => works(key)))).map(([read]) => read)).toEqual([401, 200, 200]);
  });

  test("doesn't extend the expiration of the key", async () => {
    const end = Date.now() + DAY / 2;
    const created = (await create({ expirationTime: end })).as(ApiKeyWithSecret);
    expect((await rotate(created._id)).as(ApiKeyWithSecret)).toMatchObject({ expirationTime: end, previousKeyExpires: end });
    await db
      .update(apiKeys)
      .set({ expires: Date.now() - 1 })
      .where(eq(apiKeys.id, created._id));
    expect(await works(created.key)).toEqual([401, 401]);
    expect((await rotate(created._id)).problem).toMatchObject({ status: 409, message: "The key has expired; create another" });
  });

  test("doesn't make the previous secret usable on another site", async () => {
    const created = (await create()).as(ApiKeyWithSecret);
    await rotate(created._id);
    expect(await works(created.key, await newSite())).toEqual([401, 401]);
  });

  test("returns a new secret to exactly one of two concurrent rotations of the same version", async () => {
    const created = (await create()).as(ApiKeyWithSecret);
    const responses = await Promise.all([1, 2].map(() => rotate(created._id, { "If-Match": '"v1"' })));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409 || status === 412)).toHaveLength(1);
    expect(await works(created.key)).toEqual([200, 200]);
  });
});

describe("revoking a key", () => {
  test("invalidates it and its previous secret immediately", async () => {
    const created = (await create()).as(ApiKeyWithSecret);
    const { key } = (await rotate(created._id)).as(ApiKeyWithSecret);
    expect((await site.call("revokeApiKey", { params: { id: created._id } })).status).toBe(204);
    expect([await works(created.key), await works(key)]).toEqual([
      [401, 401],
      [401, 401],
    ]);
    expect((await site.call("revokeApiKey", { params: { id: created._id } })).status).toBe(404);
    expect(await rowOf(created._id)).toBeUndefined();
  });

  test("rejects a key of another site", async () => {
    const other = await newSite();
    const created = (await create({}, other)).as(ApiKeyWithSecret);
    for (const operationId of ["revokeApiKey", "rotateApiKey"]) {
      expect((await site.call(operationId, { params: { id: created._id } })).status).toBe(404);
    }
    expect(await works(created.key, other)).toEqual([200, 200]);
  });
});

describe("the list of keys", () => {
  test("has the site's own keys, newest first, and isn't accessible with a key", async () => {
    const own = await newSite();
    await create({ name: "Older", roles: ["overlay:read"] }, own);
    await create({ name: "Newer" }, own);
    const { results } = (await own.call("listApiKeys", { as: "reader", query: { search: "er" } })).as(ApiKeyList);
    expect(results.map(({ name, roles }) => [name, roles])).toEqual([
      ["Newer", ["*"]],
      ["Older", ["overlay:read"]],
    ]);
    for (const as of ["developer", "viewer", "creator"] as const) expect((await own.call("listApiKeys", { as })).status).toBe(403);
  });
});

describe("the features of a site", () => {
  test("are replaced by the operator and published as an event", async () => {
    const own = await newSite();
    const put = (features: Record<string, unknown>) => own.call("replaceSiteFeatures", { params: { siteId: own.id }, body: { features } });
    expect((await put({ polls: true, quests: { max: 3 } })).as(Site).features).toEqual({ polls: true, quests: { max: 3 } });
    expect((await put({ overlays: true })).as(Site).features).toEqual({ overlays: true });
    expect((await own.call("getSite")).as(SiteAsRead).features).toEqual({ overlays: true });
    const { results } = (await own.call("listEvents")).as(EventList);
    expect(results.map(({ type, actor }) => [type, actor])).toEqual([
      ["site.featuresReplaced", "super"],
      ["site.featuresReplaced", "super"],
    ]);
  });

  test("can't be changed by the site", async () => {
    const body = { name: "Harbour City FC", features: { polls: true } };
    expect(await site.call("updateSite", { body })).toMatchObject({ status: 400, fields: ["features"] });
    const change = { params: { siteId: site.id }, body: { features: {} } };
    for (const as of ["admin", "developer"] as const) expect((await site.call("replaceSiteFeatures", { ...change, as })).status).toBe(403);
  });

  test("are a 404 for an unknown site", async () => {
    expect((await site.call("replaceSiteFeatures", { params: { siteId: "0".repeat(24) }, body: { features: {} } })).status).toBe(404);
  });
});
