import { env, exports } from "cloudflare:workers";
import { eq, getTableName } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { directoryDb, forgetShard, PLACED_MS, shardDatabase, shardOf } from "#db/databases.ts";
import { siteMoves } from "#db/schema/databases/site-moves.ts";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { rowsOf } from "#test/site-archives.ts";
import { tables } from "#test/tables.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { SiteMove } from "#worker/services/site-moves/schemas.ts";
import { continueMove } from "#worker/services/site-moves/steps.ts";
import { createFence, dropFence } from "#worker/services/site-moves/triggers.ts";
import { MOVED, OUTBOX, SITE_ROW, STAYS } from "#worker/services/site-moves/tables.ts";
import { finish, finishUntil, HOUR, later, phaseOf, start, wait } from "./moves.ts";

const realTimeout = setTimeout;
const Created = z.looseObject({ _id: z.string() });

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  for (const kind of ["poll", "overlay"] as const) await addResource(site, kind);
});

/** Between the calls at which a move is killed: odd, so that it is before and after calls in turn. */
const STRIDE = 7;

async function moveTo(shard: number, of = site): Promise<string> {
  const response = await start(of, shard);
  expect(response.status, response.text).toBe(202);
  return finish(of.id);
}

/** What a database has of a site, and the triggers of moves. */
async function leftIn(shard: number, siteId: string): Promise<Record<string, unknown>> {
  const database = shardDatabase(env, shard);
  const all = [...MOVED, SITE_ROW, OUTBOX];
  const counts = await database.batch<{ rows: number }>(
    all.map((table) => database.prepare(`select count(*) as rows from "${table.name}" where ${table.owned(`"${table.name}"`, siteId)}`)),
  );
  const triggers = await database.prepare("select name from sqlite_master where type = 'trigger' and name like 'site_move_%'").raw();
  const changes = await database.prepare("select count(*) from site_move_changes").raw<[number]>();
  const rows = all.flatMap(({ name }, index) => (counts[index]?.results[0]?.rows === 0 ? [] : [name]));
  return { rows, triggers: triggers.length, changes: changes[0]?.[0] };
}

const NOTHING = { rows: [], triggers: 0, changes: 0 };

test("every table is moved, or isn't for a reason", () => {
  const known = [...MOVED, SITE_ROW, OUTBOX].map(({ name }) => name);
  expect([...known, ...Object.keys(STAYS)].sort()).toEqual(tables.map((table) => getTableName(table)).sort());
});

describe("a move", () => {
  test("takes everything that a site has to the other database, and back", async () => {
    const before = await rowsOf(site.id);
    for (const [shard, other] of [
      [1, 2],
      [2, 1],
    ] as const) {
      expect(await moveTo(shard)).toBe("complete");
      forgetShard(site.id);
      expect(await shardOf(env, site.id)).toBe(shard);
      expect(await rowsOf(site.id)).toEqual(before);
      expect(await leftIn(other, site.id)).toEqual(NOTHING);
      expect((await leftIn(shard, site.id)).triggers).toBe(0);
      expect((await site.call("getSite", { as: "client" })).status).toBe(200);
      const page = (await site.call("createPage", { body: { type: "landing", slug: randomHex(6), data: { name: "News" } } })).as(Created);
      expect((await site.call("deletePage", { params: { id: page._id } })).status).toBe(200);
      expect((await site.call("getSiteMove", { params: { siteId: site.id } })).as(SiteMove)).toMatchObject({
        phase: "complete",
        toShard: shard,
      });
    }
  });

  test("loses and doubles nothing that is written meanwhile, and its events keep their order", async () => {
    const busy = await newSite();
    let stops = false;
    const created: string[] = [];
    const deleted: string[] = [];
    const writer = async () => {
      while (!stops) {
        const body = { type: "landing", slug: `page-${randomHex(6)}`, data: { name: "News" } };
        const headers = { "Idempotency-Key": randomHex(8) };
        let response = await busy.call("createPage", { body, headers });
        while (response.status !== 201) {
          expect([409, 503]).toContain(response.status);
          response = await busy.call("createPage", { body, headers });
        }
        const { _id } = response.as(Created);
        // The response is stored under its key, wherever the site is by now.
        const repeated = await busy.call("createPage", { body, headers });
        expect([repeated.status, repeated.as(Created)._id]).toEqual([201, _id]);
        created.push(_id);
        if (created.length % 3 === 0 && (await busy.call("deletePage", { params: { id: _id } })).status === 200) deleted.push(_id);
      }
    };
    const writers = [writer(), writer(), writer()];
    let at = 2;
    // There and back, until enough was written during it.
    while (at === 1 || created.length < 30) expect(await moveTo((at = at === 1 ? 2 : 1), busy)).toBe("complete");
    stops = true;
    await Promise.all(writers);
    const kept = (await rowsOf(busy.id)).pages?.flatMap(({ id, type }) => (type === "landing" ? [String(id)] : [])) ?? [];
    expect(kept.sort()).toEqual(created.filter((id) => !deleted.includes(id)).sort());
    expect(await leftIn(1, busy.id)).toEqual(NOTHING);
    await env.SITE_LOG.getByName(busy.id).nudge();
    const Events = z.looseObject({ results: z.array(z.looseObject({ type: z.string(), resource: z.string(), sequence: z.number() })) });
    const events: z.output<typeof Events>["results"] = [];
    for (let after = 0; ;) {
      const { results } = Events.parse((await busy.call("listEvents", { query: { after, limit: 100 } })).body);
      events.push(...results);
      if (results.length === 0) break;
      after = results.at(-1)?.sequence ?? 0;
    }
    const about = (type: string) => events.filter((event) => event.type === type).map(({ resource }) => resource.split("/")[1]);
    expect(about("admin.landingCreated").sort()).toEqual([...created].sort());
    expect(about("admin.landingDeleted").sort()).toEqual([...deleted].sort());
  });

  test("ends although the site changes before each of its steps", async () => {
    const [from, other] = (await shardOf(env, site.id)) === 1 ? [1, 2] : [2, 1];
    const before = await rowsOf(site.id);
    const busy = new Proxy(shardDatabase(env, from), {
      get(own, name): unknown {
        if (name !== "prepare") return Reflect.get(own, name, own);
        return (query: string) => {
          const statement = own.prepare(query);
          if (!query.startsWith("select seq")) return statement;
          const touch = own.prepare("update overlays set name = name where site_id = ?1").bind(site.id);
          // Rejected as soon as writes wait.
          return {
            raw: () =>
              touch
                .run()
                .catch(() => undefined)
                .then(() => statement.raw()),
          };
        };
      },
    });
    const worker: Env = Object.assign({ ...env }, from === 1 ? { DB: busy } : { DB_2: busy });
    await start(site, other);
    for (let turn = 0; turn < 10; turn++) {
      wait();
      await continueMove(worker, site.id, later);
    }
    expect(await phaseOf(site.id)).toBe("complete");
    forgetShard(site.id);
    expect(await rowsOf(site.id)).toEqual(before);
    if (other === 1) expect(await moveTo(2)).toBe("complete");
  });

  test("doesn't switch while isolates may still rely on where the site was before it began", async () => {
    await start(site, 1);
    const { started } = (await site.call("getSiteMove", { params: { siteId: site.id } })).as(SiteMove);
    for (let step = 0; step < 10; step++) await continueMove(env, site.id, () => started + PLACED_MS - 1);
    expect(await phaseOf(site.id)).toBe("copying");
    // Nobody relies on it any more: each query asks.
    expect((await site.call("getSite", { as: "client" })).log.d1.roundTrips).toBeGreaterThan(1);
    expect(await finish(site.id)).toBe("complete");
    expect(await moveTo(2)).toBe("complete");
  });

  test("that is taken by two workers at a time ends as if by one", async () => {
    const before = await rowsOf(site.id);
    await start(site, 1);
    wait();
    for (let round = 0; !["complete", "cancelled"].includes(await phaseOf(site.id)); round++) {
      wait();
      // The second one finds every lease expired.
      await Promise.allSettled([continueMove(env, site.id, later), continueMove(env, site.id, () => later() + HOUR)]);
      wait();
    }
    forgetShard(site.id);
    expect([await phaseOf(site.id), await shardOf(env, site.id)]).toEqual(["complete", 1]);
    expect(await rowsOf(site.id)).toEqual(before);
    expect(await moveTo(2)).toBe("complete");
  });

  test("goes on after it was killed, at any of its calls to a database, before the call or after it", async () => {
    const before = await rowsOf(site.id);
    let at = await shardOf(env, site.id);
    for (let call = 1, killed = true; killed; call += STRIDE) {
      const other = at === 1 ? 2 : 1;
      await start(site, other);
      wait();
      killed = await killAt(call, async (worker) => void (await finish(site.id, worker)));
      expect(await finish(site.id), `killed at call ${call}`).toBe("complete");
      forgetShard(site.id);
      expect(await rowsOf(site.id), `killed at call ${call}`).toEqual(before);
      expect(await leftIn(at, site.id), `killed at call ${call}`).toEqual(NOTHING);
      at = other;
    }
    if (at === 1) expect(await moveTo(2)).toBe("complete");
  });

  test("goes on a second after a call has failed, and later the more often it fails", async () => {
    const other = (await shardOf(env, site.id)) === 1 ? 2 : 1;
    await start(site, other);
    await finishUntil(site.id, "copying");
    let now = later();
    const pauses: number[] = [];
    for (let failures = 0; failures < 8; failures++) {
      // The claim, and the first turn.
      await killAt(2, (worker) => continueMove(worker, site.id, () => now), 1);
      const [move] = await directoryDb(env).select().from(siteMoves).where(eq(siteMoves.siteId, site.id));
      expect(move?.message).toContain("killed");
      pauses.push((move?.lease ?? 0) - now);
      now = move?.lease ?? 0;
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    wait();
    expect(await finish(site.id)).toBe("complete");
    if (other === 1) expect(await moveTo(2)).toBe("complete");
  });

  test("can be cancelled until the site is in the other database, and leaves no trace", async () => {
    const before = await rowsOf(site.id);
    await start(site, 1);
    wait();
    await killAt(9, async (worker) => void (await finish(site.id, worker)));
    expect(["starting", "copying"]).toContain(await phaseOf(site.id));
    expect((await site.call("cancelSiteMove", { params: { siteId: site.id } })).as(SiteMove).phase).toBe("cancelling");
    expect(await finish(site.id)).toBe("cancelled");
    expect(await shardOf(env, site.id)).toBe(2);
    expect(await leftIn(1, site.id)).toEqual(NOTHING);
    expect((await leftIn(2, site.id)).triggers).toBe(0);
    expect(await rowsOf(site.id)).toEqual(before);
    expect((await site.call("cancelSiteMove", { params: { siteId: site.id } })).status).toBe(409);
  });

  describe("whose worker dies while writes wait", () => {
    /** Starts a move, and ends it once the fence is up. */
    async function dieFenced(of: TestSite, shard: number): Promise<void> {
      await start(of, shard);
      while ((await phaseOf(of.id)) !== "fenced") {
        wait();
        await continueMove(env, of.id, later);
      }
      wait();
      // Claim, two turns, shade and fence.
      await killAt(6, (worker) => continueMove(worker, of.id, later));
      expect(await phaseOf(of.id)).toBe("fenced");
    }

    const create = (of: TestSite, key: string, slug: string) => {
      const headers = { "Idempotency-Key": key, "Content-Type": "application/json" };
      const body = JSON.stringify({ type: "landing", slug, data: { name: "News" } });
      return of
        .headersOf("developer")
        .then((own) => exports.default.fetch(`${ORIGIN}/page/v2`, { method: "POST", headers: { ...own, ...headers }, body }));
    };

    test("lets them through once another one has finished it, each of them once", async () => {
      const waiting = await newSite();
      await dieFenced(waiting, 1);
      const writes = ["one", "two", "three"].map((slug) => create(waiting, slug, slug));
      expect(await finish(waiting.id)).toBe("complete");
      const responses = await Promise.all(writes);
      expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
      const again = await create(waiting, "one", "one");
      expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
      expect((await rowsOf(waiting.id)).pages?.filter(({ type }) => type === "landing")).toHaveLength(3);
      expect(await leftIn(2, waiting.id)).toEqual(NOTHING);
    });

    test("gives them a 503 after a while, which leaves their key free, and lets them through when it is cancelled", async () => {
      const waiting = await newSite();
      await dieFenced(waiting, 1);
      const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void) => {
        queueMicrotask(run);
        return realTimeout(() => undefined, 0);
      });
      const rejected = await create(waiting, "key", "news");
      timers.mockRestore();
      expect([rejected.status, rejected.headers.get("Retry-After")]).toEqual([503, "2"]);
      await waiting.call("cancelSiteMove", { params: { siteId: waiting.id } });
      expect(await finish(waiting.id)).toBe("cancelled");
      expect((await create(waiting, "key", "news")).status).toBe(201);
      expect((await leftIn(2, waiting.id)).triggers).toBe(0);
    });

    test("doesn't keep the key of a request that it interrupts after it has claimed it", async () => {
      const { siteId, id } = { siteId: (await newSite()).id, id: randomHex(16) };
      const database = shardDatabase(env, 2);
      const columns = "(id, site_id, fingerprint, state, lease, expires)";
      await database
        .prepare(`insert into idempotency_keys ${columns} values (?1, ?2, '', 'running', ?3, ?3)`)
        .bind(id, siteId, Date.now() + HOUR)
        .run();
      for (const statement of createFence(siteId)) await database.prepare(statement).run();
      const change = database.prepare("update idempotency_keys set state = 'committed' where id = ?1").bind(id);
      await expect(change.run()).rejects.toThrow("site_moving");
      const released = await database.prepare("delete from idempotency_keys where id = ?1 returning id").bind(id).raw();
      expect(released).toEqual([[id]]);
      for (const statement of dropFence()) await database.prepare(statement).run();
    });
  });

  test("is refused for a site that isn't there, a database that isn't bound, the same one, and while another site moves", async () => {
    const other = await newSite();
    expect((await start(other, 9)).fields).toEqual(["shard"]);
    expect((await start(other, 2)).status).toBe(409);
    expect((await site.call("moveSite", { params: { siteId: "0123456789ab0123456789ab" }, body: { shard: 1 } })).status).toBe(404);
    expect((await site.call("getSiteMove", { params: { siteId: other.id } })).status).toBe(404);
    expect((await start(site, 1)).status).toBe(202);
    expect((await start(other, 1)).status).toBe(409);
    await site.call("cancelSiteMove", { params: { siteId: site.id } });
    expect(await finish(site.id)).toBe("cancelled");
  });
});

/**
 * Runs work with databases that fail from this call on, or only in so many calls; every second one after the call has had its effect.
 * Returns whether it came so far.
 */
async function killAt(call: number, work: (worker: Env) => Promise<void>, failures = Infinity): Promise<boolean> {
  let calls = 0;
  const failing = async <T>(run: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls >= call + failures) return run();
    if (calls > call || (calls === call && call % 2 === 0)) throw new Error("killed");
    const result = await run();
    if (calls === call) throw new Error("killed");
    return result;
  };
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(own, name): unknown {
        if (name === "bind") return (...values: unknown[]) => wrap(own.bind(...values));
        if (name === "raw") return () => failing(() => own.raw());
        if (name === "run") return () => failing(() => own.run());
        if (name === "first") return (column: string) => failing(() => own.first(column));
        return Reflect.get(own, name);
      },
    });
    originals.set(wrapped, statement);
    return wrapped;
  };
  const kill = (database: D1Database): D1Database =>
    new Proxy(database, {
      get(own, name): unknown {
        if (name === "prepare") return (query: string) => wrap(own.prepare(query));
        if (name === "batch")
          return (statements: D1PreparedStatement[]) => failing(() => own.batch(statements.map((each) => originals.get(each) ?? each)));
        return Reflect.get(own, name);
      },
    });
  const worker: Env = Object.assign({ ...env }, { DB: kill(env.DB), DB_2: kill(shardDatabase(env, 2)) });
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await work(worker).catch(() => undefined);
  log.mockRestore();
  return calls >= call;
}
