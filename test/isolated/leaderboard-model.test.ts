import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { BucketChanges, PointBuckets } from "#worker/durable-objects/leaderboard/point-buckets.ts";
import { MAX_TOTAL } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { evict } from "./relay-viewer.ts";

// A leaderboard's object does what this naive model does: it adds up all awards each time it is asked.

const MEMBERS = 8;
const accounts = Array.from({ length: MEMBERS }, (_, n) => newId(n + 1));

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("award" as const),
      who: fc.nat(MEMBERS - 1),
      points: fc.integer({ min: -4, max: 6 }).filter((points) => points !== 0),
      id: fc.nat(40),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("erase" as const), who: fc.nat(MEMBERS - 1) }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: "evict" as const }, { kind: "rebuild" as const }) },
);

interface Model {
  awards: Map<number, { who: number; points: number }>;
  erased: Set<number>;
}

function standingsOf({ awards, erased }: Model) {
  const totals = new Map<number, { points: number; reached: number }>();
  [...awards.values()].forEach(({ who, points }, index) =>
    totals.set(who, { points: (totals.get(who)?.points ?? 0) + points, reached: index }),
  );
  const sorted = [...totals].sort(([, a], [, b]) => b.points - a.points || a.reached - b.reached);
  return sorted.map(([who, { points }]) => ({
    rank: 1 + sorted.filter(([, other]) => other.points > points).length,
    accountId: erased.has(who) ? null : (accounts[who] ?? null),
    points,
  }));
}

test("ranks, own ranks and pages equal those of a naive model, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 60 }), async (actions) => {
      const board = leaderboardOf(env, newId(Date.now()), newId(Date.now()));
      const model: Model = { awards: new Map(), erased: new Set() };
      for (const step of actions) {
        if (step.kind === "award") {
          const { who, points, id } = step;
          const award = { accountId: accounts[who] ?? "", points, reason: "", cause: `award/${id}`, at: 0, rule: null };
          const [outcome] = await board.award([award]);
          const known = model.awards.get(id);
          if (model.erased.has(who)) expect(outcome?.ok).toBe(false);
          else if (known) expect(outcome?.ok).toBe(known.who === who && known.points === points);
          else {
            model.awards.set(id, { who, points });
            expect(outcome).toMatchObject({ ok: true, repeated: false });
          }
        } else if (step.kind === "erase") {
          await board.erase(accounts[step.who] ?? "");
          model.erased.add(step.who);
          // The ids of its awards are erased too, so another account may get awards with them.
          model.awards = new Map([...model.awards].map(([id, award], index) => [award.who === step.who ? -1 - index : id, award]));
        } else if (step.kind === "evict") await evict(board);
        else await board.rebuild();
      }
      const expected = standingsOf(model);
      expect((await board.ranks({ offset: 0 }, 100)).standings).toEqual(expected);
      for (const [index, { accountId }] of expected.entries()) {
        expect((await board.ranks({ offset: index }, 1)).standings).toEqual(expected.slice(index, index + 1));
        if (accountId === null) continue;
        const around = await board.ranksAround(accountId, 2);
        expect(around).toEqual({
          own: expected[index],
          before: expected.slice(Math.max(0, index - 2), index),
          after: expected.slice(index + 1, index + 3),
          members: expected.length,
        });
      }
    }),
    { numRuns: 40 },
  );
});

test("a rank is counted over the whole range of points", async () => {
  const board = leaderboardOf(env, newId(Date.now()), newId(Date.now()));
  await runInDurableObject(board, (_, { storage }) => {
    const buckets = new PointBuckets(storage.sql);
    const all = [-MAX_TOTAL, -1, 0, 255, 256, 65_536, 16_777_216, MAX_TOTAL, MAX_TOTAL];
    const changes = new BucketChanges();
    for (const points of all) changes.moved(null, points);
    buckets.apply(changes);
    for (const points of [...all, 1, -5, 1_000_000]) expect(buckets.ahead(points)).toBe(all.filter((other) => other > points).length);
    expect(all.map((_points, position) => buckets.pointsAt(position)?.points)).toEqual(all.toSorted((a, b) => b - a));
    expect(buckets.pointsAt(all.length)).toBeNull();
    // A statement that is still open would hold a lock.
    storage.sql.exec("DROP TABLE buckets");
  });
});

test("awards are recorded with all that follows from them, or not at all", async () => {
  const board = leaderboardOf(env, newId(Date.now()), newId(Date.now()));
  const award = (accountId: string, cause: string) => ({ accountId, points: 5, reason: "", cause, at: 0, rule: null });
  await board.award([award(accounts[0] ?? "", "award/a")]);
  await runInDurableObject(board, (instance, { storage }) => {
    // The buckets are written last.
    storage.sql.exec("ALTER TABLE buckets RENAME TO moved");
    expect(() => instance.award([award(accounts[1] ?? "", "award/b")])).toThrow(/buckets/);
    storage.sql.exec("ALTER TABLE moved RENAME TO buckets");
  });
  expect(await board.ranks({ offset: 0 }, 10)).toMatchObject({ standings: [{ rank: 1, points: 5 }], members: 1 });
  expect(await board.entries(0, 10)).toHaveLength(1);
  expect(await board.award([award(accounts[1] ?? "", "award/b")])).toMatchObject([{ ok: true, total: 5, repeated: false }]);
});

test("every statement that reads ranks finds its rows by an index, in order", async () => {
  const board = leaderboardOf(env, newId(Date.now()), newId(Date.now()));
  await board.award([{ accountId: accounts[0] ?? "", points: 5, reason: "", cause: "award/a", at: 0, rule: null }]);
  await runInDurableObject(board, (instance, { storage }) => {
    const statements: string[] = [];
    const exec = storage.sql.exec.bind(storage.sql);
    const spy = vi.spyOn(storage.sql, "exec").mockImplementation((query, ...bindings: unknown[]) => {
      statements.push(query);
      return Reflect.apply(exec, storage.sql, [query, ...bindings]);
    });
    instance.ranks({ offset: 0 }, 10);
    instance.ranks({ after: { points: 9, precedence: 0 } }, 10);
    instance.ranksAround(accounts[0] ?? "", 2);
    instance.entries(0, 10);
    instance.award([{ accountId: accounts[1] ?? "", points: 5, reason: "", cause: "a", at: 0, rule: { on: "poll.answered", perDay: 1 } }]);
    spy.mockRestore();
    expect(statements.length).toBeGreaterThan(8);
    for (const statement of statements.filter((one) => /^(SELECT|UPDATE|DELETE)/.test(one))) {
      const parameters = (statement.match(/\?/g) ?? []).map(() => null);
      const plan = exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${statement}`, ...parameters)
        .toArray()
        .map(({ detail }) => detail);
      const bad = plan.filter((step) => (step.startsWith("SCAN") && !step.includes("awards")) || step.includes("TEMP B-TREE"));
      expect(bad, statement).toEqual([]);
    }
  });
});
