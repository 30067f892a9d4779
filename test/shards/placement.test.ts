import { env, exports } from "cloudflare:workers";
import { eq, inArray } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { forgetShard, PLACED_MS, rememberShard, shardOf, shardsOf } from "#db/databases.ts";
import { outbox } from "#db/schema/events.ts";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import { siteShards, siteSlugs } from "#db/schema/databases/shards.ts";
import { sites } from "#db/schema/sites.ts";
import { newSite, ORIGIN, siteIds, type TestSite } from "#test/harness.ts";
import { failNextBatch } from "#test/next-batch.ts";
import { siteStore } from "#test/site-store.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { sweepOrphans } from "#worker/services/media/media.ts";
import { OperatorReport } from "#worker/services/operations/schemas.ts";
import { CreatedSite } from "#worker/services/sites/schemas.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { newJob } from "#worker/services/site-archives/archives.ts";
import { placeImport, placeSite, releaseSite, releaseSites } from "#worker/services/sites/placement.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { createOnFirst, newSiteInput } from "./first-shard.ts";

const [first, second] = [createDb(env.DB), createDb(siteStore)];
const HOUR = 3_600_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

/** A site that the placement puts on the second shard. */
async function create(slug?: string) {
  const response = await site.call("createSite", { body: newSiteInput(slug) });
  const created = response.as(CreatedSite);
  siteIds.push(created.site._id);
  return { id: created.site._id, slug: created.site.slug, developerKey: created.developerKey };
}

async function rowsIn(id: string) {
  const find = (db: typeof first) => db.select({ id: sites.id }).from(sites).where(eq(sites.id, id));
  const [onFirst, onSecond, placed, slugs] = await Promise.all([
    find(first),
    find(second),
    first.select({ shard: siteShards.shard }).from(siteShards).where(eq(siteShards.siteId, id)),
    first.select({ slug: siteSlugs.slug }).from(siteSlugs).where(eq(siteSlugs.siteId, id)),
  ]);
  return {
    onFirst: onFirst.length,
    onSecond: onSecond.length,
    shards: placed.map(({ shard }) => shard),
    slugs: slugs.map(({ slug }) => slug),
  };
}

describe("a new site", () => {
  test("is on the shard with weight, and nowhere else", async () => {
    const { id, slug, developerKey } = await create();
    expect(await rowsIn(id)).toEqual({ onFirst: 0, onSecond: 1, shards: [2], slugs: [slug] });
    const headers = { "Tifo-Client-Id": id, "Tifo-Developer-Key": developerKey };
    expect((await exports.default.fetch(`${ORIGIN}/site/v1`, { headers })).status).toBe(200);
  });

  test("of a setup link is on the first shard, which needs no entry", async () => {
    const { id } = await createOnFirst(site);
    expect(await rowsIn(id)).toEqual({ onFirst: 1, onSecond: 0, shards: [], slugs: [] });
    expect(await shardOf(env, id)).toBe(1);
  });

  test("can't have the slug of a site on another shard, in either direction", async () => {
    const [there, here] = [await create(), await createOnFirst(site)];
    expect((await site.call("createSite", { body: newSiteInput(here.slug) })).status).toBe(409);
    expect((await site.call("createSite", { body: newSiteInput(there.slug) })).status).toBe(409);
    expect((await createOnFirst(site, newSiteInput(there.slug))).status).toBe(409);
  });

  test("that can't be written leaves its slug to others", async () => {
    const slug = `club-${randomHex(5)}`;
    const batch = failNextBatch(slug, "the second shard is away");
    onTestFinished(() => batch.restore());
    const headers = { "Tifo-Super-Key": env.TIFO_SUPER_KEY, "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(newSiteInput(slug)) };
    expect((await exports.default.fetch(`${ORIGIN}/site/v1`, request)).status).toBe(500);
    expect(await first.select().from(siteSlugs).where(eq(siteSlugs.slug, slug))).toEqual([]);
    expect((await create(slug)).slug).toBe(slug);
  });
});

describe("the weights of shards", () => {
  async function chosen(weights: string): Promise<number> {
    const ctx = systemCtx({ env: { ...env, TIFO_SHARD_WEIGHTS: weights }, db: first, now: Date.now() }, "", "test");
    const id = newId(Date.now());
    await placeSite(ctx, { id, slug: `club-${randomHex(5)}` }, async () => undefined);
    const [shard = 1] = (await rowsIn(id)).shards;
    await releaseSite(env, id);
    return shard;
  }

  test("decide where sites go, and close a shard with 0", async () => {
    expect([await chosen("1,0"), await chosen("1"), await chosen("0,1"), await chosen("0, 2")]).toEqual([1, 1, 2, 2]);
    const random = vi.spyOn(Math, "random");
    onTestFinished(() => random.mockRestore());
    random.mockReturnValueOnce(0.24);
    expect(await chosen("1,3")).toBe(1);
    random.mockReturnValueOnce(0.26);
    expect(await chosen("1,3")).toBe(2);
  });

  test("without any that count, give sites to the smallest database", async () => {
    const size = async (database: D1Database) => (await database.prepare("select 1").run()).meta.size_after;
    const smallest = (await size(siteStore)) < (await size(env.DB)) ? 2 : 1;
    for (const weights of ["", "0,0", "all", "0,0,5"]) expect([weights, await chosen(weights)]).toEqual([weights, smallest]);
  });
});

describe("the site of an import", () => {
  test("goes to the shard with weight, unless an import of it has begun on the first one", async () => {
    const ctx = systemCtx({ env, db: first, now: Date.now() }, "", "test");
    const [fresh, begun] = [newId(ctx.now), newId(ctx.now)];
    const job: ArchiveRow = { ...newJob({ siteId: begun, now: ctx.now }, "import"), lease: ctx.now + HOUR };
    await first.insert(siteArchives).values(job);
    for (const id of [fresh, begun]) await placeImport(ctx, id);
    expect([await shardOf(env, fresh), await shardOf(env, begun)]).toEqual([2, 1]);
    await releaseSite(env, fresh);
    await first.delete(siteArchives).where(eq(siteArchives.id, job.id));
    expect(await shardOf(env, fresh)).toBe(1);
  });
});

describe("a site's slug", () => {
  test("stays its own until it has another one, and is free an hour later", async () => {
    const { id, slug, developerKey } = await create();
    const other = await create();
    const headers = { "Tifo-Client-Id": id, "Tifo-Developer-Key": developerKey };
    const current = z.looseObject({}).parse(await (await exports.default.fetch(`${ORIGIN}/site/v1`, { headers })).json());
    const change = async (next: string) => {
      const { name, collections, regions, settings, style, shards, tags, devicelimit } = current;
      const body = JSON.stringify({ siteId: id, slug: next, name, collections, regions, settings, style, shards, tags, devicelimit });
      return exports.default.fetch(`${ORIGIN}/site/v1`, {
        method: "PUT",
        headers: { ...headers, "Content-Type": "application/json" },
        body,
      });
    };
    expect((await change(other.slug)).status).toBe(409);
    const next = `club-${randomHex(5)}`;
    expect((await change(next)).status).toBe(200);
    expect((await rowsIn(id)).slugs.sort()).toEqual([slug, next].sort());
    const later = (Math.ceil(Date.now() / HOUR) + 2) * HOUR;
    await releaseSites({ env, now: later });
    expect((await rowsIn(id)).slugs).toEqual([next]);
    expect((await rowsIn(other.id)).slugs).toEqual([other.slug]);
    expect((await createOnFirst(site, newSiteInput(slug))).status).toBe(201);
  });
});

describe("where a site is", () => {
  test("is looked up once, and then costs no round trip", async () => {
    forgetShard(site.id);
    const roundTrips = async () => (await site.call("getSite", { as: "developer" })).log.d1.roundTrips;
    expect([await roundTrips(), await roundTrips(), await roundTrips()]).toEqual([2, 1, 1]);
  });

  test("isn't remembered of ids that don't exist, which get the 401 of an unknown site", async () => {
    const headers = { "Tifo-Client-Id": "0123456789ab0123456789ab" };
    for (let time = 0; time < 2; time++) {
      const { status, log } = await site.call("listPages", { as: "nobody", headers });
      // A failed check runs twice, with and after the read, and looks the site up each time.
      expect([status, log.d1.roundTrips]).toEqual([401, 4]);
    }
  });

  test("is never guessed if its shard isn't bound", async () => {
    const id = newId(Date.now());
    await first.insert(siteShards).values({ siteId: id, shard: 7, created: Date.now() });
    onTestFinished(async () => void (await first.delete(siteShards).where(eq(siteShards.siteId, id))));
    const { status } = await exports.default.fetch(`${ORIGIN}/page/v2`, { headers: { "Tifo-Client-Id": id } });
    expect(status).toBe(500);
    // And no file is deleted because the shards that are bound don't have it.
    const list = vi.spyOn(env.MEDIA, "list");
    await expect(sweepOrphans({ env, now: Math.ceil(Date.now() / HOUR) * HOUR })).rejects.toThrow("DB_7");
    expect(list).not.toHaveBeenCalled();
    list.mockRestore();
  });

  test("is found again within a minute if the site was deleted and created elsewhere", async () => {
    const moved = await createOnFirst(site);
    const headers = { "Tifo-Client-Id": moved.id };
    rememberShard(moved.id, 2);
    // The other shard has nothing of it: no access, rather than someone else's data.
    expect((await exports.default.fetch(`${ORIGIN}/page/v2`, { headers: { ...headers, "Tifo-Developer-Key": "guess" } })).status).toBe(401);
    const now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now + PLACED_MS + 1);
    onTestFinished(() => clock.mockRestore());
    expect(await shardOf(env, moved.id)).toBe(1);
  });
});

describe("another tenant", () => {
  test("gets nothing with a key, a token or an id of another shard", async () => {
    const here = await createOnFirst(site);
    const [channelId] = site.channels;
    const client = { "Tifo-Client-Id": here.id };
    const status = async (path: string, headers: Record<string, string>) =>
      (await exports.default.fetch(`${ORIGIN}${path}`, { headers })).status;
    expect(await status(`/page/v2/${channelId}`, client)).toBe(404);
    const page = "/account/v3";
    expect(await status(page, { ...client, "Tifo-Developer-Key": site.developerKey })).toBe(401);
    expect(await status(page, { ...client, Authorization: `Bearer ${await site.signIn(site.accounts.admin)}` })).toBe(401);
    expect(await status(page, { "Tifo-Client-Id": site.id, "Tifo-Developer-Key": site.developerKey })).toBe(200);
  });
});

describe("the cron and the operator", () => {
  test("find what is waiting on every shard", async () => {
    // As if the nudges of two sites had been lost.
    const ids = [newId(Date.now()), newId(Date.now())] as const;
    const created = Date.now() - 60_000;
    const event = { type: "site.featuresReplaced", resource: "site/x", data: {}, actor: "super", requestId: "r", created };
    const row = (siteId: string) => ({ ...event, siteId, eventId: newId(created) });
    await first.insert(outbox).values(row(ids[0]));
    await second.insert(outbox).values(row(ids[1]));
    const report = (await site.call("getOperatorReport", {})).as(OperatorReport);
    expect(report.outbox.sites.map(({ siteId }) => siteId)).toEqual(expect.arrayContaining([...ids]));
    expect(report.database.shards.map(({ shard }) => shard)).toEqual([...shardsOf(env).keys()]);
    expect(report.database.bytes).toBe(Math.max(...report.database.shards.map(({ bytes }) => bytes)));
    // No log takes what no operation has written.
    const nudged = vi.spyOn(env.SITE_LOG, "getByName").mockImplementation(() => {
      throw new Error("not now");
    });
    await runScheduled(env, Date.now()).catch(() => undefined);
    const names = nudged.mock.calls.map(([name]) => name);
    nudged.mockRestore();
    expect(names).toEqual(expect.arrayContaining([...ids]));
    for (const db of [first, second]) await db.delete(outbox).where(inArray(outbox.siteId, [...ids]));
  });
});
