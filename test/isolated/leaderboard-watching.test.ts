import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Leaderboard } from "#worker/durable-objects/leaderboard/leaderboard.ts";
import { Ledger } from "#worker/durable-objects/leaderboard/ledger.ts";
import type { NewAward } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { WatchedMinutesStore } from "#worker/durable-objects/leaderboard/watched-minutes.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { atTime, evict } from "./relay-viewer.ts";

const MINUTE = 60_000;
const FIRST = 29_700_000;
const VIEWERS = Array.from({ length: 100 }, (_, n) => newId(n + 1));
const RULE = { points: 2, perDay: 1_000 };

const newBoard = () => leaderboardOf(env, newId(Date.now()), newId(Date.now()));

/** A storage that adds up the rows that SQL writes, indexes included, and the values that are put. */
function counted(storage: DurableObjectStorage) {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  let values = 0;
  const forward = <T extends object>(target: T, own: Record<PropertyKey, unknown>): T =>
    new Proxy(target, {
      get(object, name): unknown {
        if (name in own) return own[name];
        const value: unknown = Reflect.get(object, name);
        return typeof value === "function" ? value.bind(object) : value;
      },
    });
  const sql = forward(storage.sql, {
    exec: (query: string, ...bindings: SqlStorageValue[]) => {
      const cursor = storage.sql.exec(query, ...bindings);
      cursors.push(cursor);
      return cursor;
    },
  });
  const kv = forward(storage.kv, {
    put: (key: string, value: unknown) => {
      values++;
      storage.kv.put(key, value);
    },
  });
  return { storage: forward(storage, { sql, kv }), rows: () => cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, values) };
}

/** The rows that a board writes for each minute of these viewers, who watch for an hour. */
async function rowsPerMinute(watch: (ledger: Ledger, storage: DurableObjectStorage, minute: number) => void): Promise<number> {
  const written = await runInDurableObject(newBoard(), (_, { storage }) => {
    const { storage: metered, rows } = counted(storage);
    const ledger = new Ledger(metered);
    for (let minute = FIRST; minute < FIRST + 60; minute++) watch(ledger, metered, minute);
    expect(ledger.pointsOf(VIEWERS.slice(0, 1))).toEqual({ [VIEWERS[0] ?? ""]: 120 });
    return rows();
  });
  return written / (60 * VIEWERS.length);
}

test("collecting watched minutes writes little more than one row per viewer and minute, where an award for each writes more than five", async () => {
  const each = await rowsPerMinute((ledger, _, minute) => {
    const award = (accountId: string): NewAward => ({
      ...{ accountId, points: RULE.points, reason: "Watched for a minute", cause: `minute.watched/${minute}`, at: minute * MINUTE },
      rule: { on: "minute.watched", perDay: RULE.perDay },
    });
    ledger.award(VIEWERS.map(award));
  });
  const collected = await rowsPerMinute((ledger, storage, minute) => {
    const store = new WatchedMinutesStore(storage, ledger);
    // As the relays report them: in groups, every few seconds.
    for (let group = 0; group < 10; group++) {
      const minutes = VIEWERS.slice(group * 10, group * 10 + 10).map((id): [string, number] => [id, minute]);
      store.add({ rule: RULE, minutes }, minute * MINUTE);
    }
    if (minute % 5 === 4) store.award();
  });
  expect(each).toBeGreaterThan(5);
  expect(collected).toBeLessThan(1.5);
});

test("minutes are awarded five minutes after the first, each once, however they are repeated and whatever dies", async () => {
  const [board, at] = [newBoard(), Date.now()];
  const [ann = "", ben = ""] = VIEWERS;
  const watched = (minutes: [string, number][]) => board.watched({ rule: { points: 3 }, minutes });
  await watched([
    [ann, FIRST],
    [ann, FIRST + 1],
    [ben, FIRST + 29],
    [ben, FIRST + 30],
  ]);
  await evict(board);
  await watched([[ann, FIRST + 1]]);
  expect(await board.pointsOf([ann, ben])).toEqual({});
  await evict(board);
  await runInDurableObject(board, (object: Leaderboard) => atTime(at + 4 * MINUTE, () => object.alarm()));
  expect(await board.pointsOf([ann, ben])).toEqual({});
  await runInDurableObject(board, (object: Leaderboard) => atTime(at + 6 * MINUTE, () => object.alarm()));
  expect(await board.pointsOf([ann, ben])).toEqual({ [ann]: 6, [ben]: 6 });
  await watched([
    [ann, FIRST + 1],
    [ann, FIRST + 2],
    [ben, FIRST + 30],
  ]);
  await board.entries(0, 10);
  expect(await board.pointsOf([ann, ben])).toEqual({ [ann]: 9, [ben]: 6 });
  expect((await board.entries(0, 10)).reduce((sum, { points }) => sum + points, 0)).toBe(15);
});

test("minutes count up to the limit per day, also over several awards", async () => {
  const board = newBoard();
  const [ann = ""] = VIEWERS;
  const day = Math.floor(FIRST / 1_440) * 1_440;
  for (const minutes of [[0, 1], [2, 3, 4], [1_439, 1_440], [1_441]]) {
    await board.watched({ rule: { points: 1, perDay: 4 }, minutes: minutes.map((minute): [string, number] => [ann, day + minute]) });
    await board.entries(0, 10);
  }
  expect(await board.pointsOf([ann])).toEqual({ [ann]: 6 });
});

test("the minutes of a deleted account stay as points without a name", async () => {
  const board = newBoard();
  const [ann = ""] = VIEWERS;
  await board.watched({ rule: { points: 1 }, minutes: [[ann, FIRST]] });
  await board.erase(ann);
  await board.watched({ rule: { points: 1 }, minutes: [[ann, FIRST + 1]] });
  expect(await board.entries(0, 10)).toMatchObject([{ accountId: null, points: 1 }]);
});

test("a board that erased an account in an earlier release erases the causes of its awards too", async () => {
  const board = newBoard();
  const [ann = "", ben = ""] = VIEWERS;
  const award = { points: 1, reason: "", at: FIRST, rule: null };
  await board.award([
    { ...award, accountId: ann, cause: "award/costume-of-Ann" },
    { ...award, accountId: ben, cause: "award/costume-of-Ben" },
  ]);
  await board.erase(ann);
  await runInDurableObject(board, (_, { storage }) => {
    storage.sql.exec("UPDATE awards SET cause = 'award/costume-of-Ann' WHERE seq = 1");
    storage.kv.put("schema:ledger", 2);
  });
  await evict(board);
  expect((await board.entries(0, 10)).map(({ cause }) => cause)).toEqual(["erased/1", "award/costume-of-Ben"]);
});
