import { env } from "cloudflare:workers";
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { counterOf } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { newSite, type TestSite } from "../harness.ts";
import { leaderboardsOf } from "../leaderboards.ts";
import { idOf, pollsOf } from "./polls.ts";
import { atTime, evict } from "./relay-viewer.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, crowd, vote } = pollsOf(() => site);
const { newBoard, board } = leaderboardsOf(() => site);

test("votes are paid for exactly once although the leaderboard fails and the counter crashes in between", async () => {
  const { _id } = await newBoard({ rules: [{ on: "poll.answered", points: 10 }] });
  const poll = await newPoll();
  const voter = site.accounts.viewer.id;
  const counter = () => counterAt(env, site.id, poll._id, counterOf(voter));
  await runInDurableObject(board(_id), (_, { storage }) => storage.sql.exec("ALTER TABLE members RENAME TO away"));
  await vote(poll, voter);
  const later = Date.now() + 3_000;
  // The runtime may have run an alarm by itself.
  const pay = (at: number) => atTime(at, () => runDurableObjectAlarm(counter()));
  const isPaid = async () =>
    expect(await board(_id).ranks({ offset: 0 }, 10)).toMatchObject({ standings: [{ rank: 1, accountId: voter, points: 10 }], members: 1 });
  await pay(later);
  await abortAllDurableObjects();
  await runInDurableObject(board(_id), (_, { storage }) => storage.sql.exec("ALTER TABLE away RENAME TO members"));
  await vi.waitFor(async () => {
    await pay(later + 10_000);
    await isPaid();
  });
  await pay(later + 20_000);
  await isPaid();
});

test("the outcome of a poll with more responses than a page pays all who were right, also after an eviction", async () => {
  const { _id } = await newBoard({ rules: [{ on: "prediction.correct", points: 5 }] });
  const poll = await newPoll();
  const fans = await crowd(1_300);
  const rows = fans.map((accountId, index) => ({
    siteId: site.id,
    pollId: poll._id,
    accountId,
    n: 1,
    answerId: idOf(poll, index % 2),
    created: index,
  }));
  const db = createDb(siteStore);
  for (let from = 0; from < rows.length; from += 14) await db.insert(pollResponses).values(rows.slice(from, from + 14));
  await site.call("settlePoll", { params: { id: poll._id }, body: { correctAnswerId: idOf(poll, 0) } });
  await evict(board(_id));
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(board(_id));
    const { standings, members } = await board(_id).ranks({ offset: 649 }, 10);
    expect(members).toBe(650);
    expect(standings).toMatchObject([{ rank: 1, points: 5 }]);
  });
});
