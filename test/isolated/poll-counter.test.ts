import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { and, eq, sql } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { pollResponses, polls } from "#db/schema/engagement/polls.ts";
import { counterAt, countersOf } from "#worker/durable-objects/stubs.ts";
import { counterOf, POLL_COUNTERS, type Vote, type VoteOutcome } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { pollDefinition, syncCounters, writeVotes } from "#worker/services/polls/counting.ts";
import { answeredPolls } from "#worker/services/polls/polls.ts";
import { castVote } from "#worker/services/polls/votes.ts";
import { newSite, type TestSite } from "../harness.ts";
import { idOf, type Poll, pollsOf } from "./polls.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, crowd, vote, patch, results, counts } = pollsOf(() => site);

async function storedCounts(poll: Poll): Promise<Record<string, number>> {
  const rows = await db
    .select({ answerId: pollResponses.answerId, responses: sql<number>`count(*)` })
    .from(pollResponses)
    .where(and(eq(pollResponses.siteId, site.id), eq(pollResponses.pollId, poll._id)))
    .groupBy(pollResponses.answerId);
  return Object.fromEntries(rows.map(({ answerId, responses }) => [answerId, responses]));
}

/** Retries until there is a response, as a client with a bad connection does. */
async function voteUntilResponse(poll: Poll, { accountId, answerId, requestId }: Vote): Promise<VoteOutcome> {
  for (;;) {
    try {
      return await counterAt(env, site.id, poll._id, counterOf(accountId)).vote({ accountId, answerId, requestId });
    } catch {
      // The object has died; a later call starts it again.
      await scheduler.wait(5);
    }
  }
}

describe("votes of a crowd", () => {
  test("are counted and stored exactly once despite retries, evictions and a crash", async () => {
    const poll = await newPoll();
    const fans = await crowd(2_000);
    const expected = [0, 0, 0];
    const votes: Vote[] = fans.map((accountId, index) => {
      const answer = (index * 7) % 3;
      expected[answer] = (expected[answer] ?? 0) + 1;
      return { accountId, answerId: idOf(poll, answer), requestId: randomHex(6) };
    });
    for (let from = 0; from < votes.length; from += 250) {
      const some = votes.slice(from, from + 250);
      const cast = some.flatMap((one) => [
        voteUntilResponse(poll, one),
        ...(counterOf(one.accountId) % 2 === 0 ? [voteUntilResponse(poll, one)] : []),
      ]);
      if (from === 1_000) await abortAllDurableObjects();
      for (const outcome of await Promise.all(cast)) expect(outcome.ok).toBe(true);
      if (from % 500 === 0) await evictDurableObject(counterAt(env, site.id, poll._id, (from / 250) % POLL_COUNTERS));
    }
    // A vote can't be changed.
    const [first] = fans;
    expect(await vote(poll, first ?? "", 2)).toMatchObject({ ok: false, code: "already_answered" });
    await patch(poll, { open: false });
    expect(await counts(poll)).toEqual(expected);
    expect(await storedCounts(poll)).toEqual(Object.fromEntries(expected.map((responses, index) => [idOf(poll, index), responses])));
  });

  test("are spread over all counters, and an account always uses the same one", async () => {
    const ids = Array.from({ length: 4_000 }, () => newId(Date.now()));
    const shares = Array.from({ length: POLL_COUNTERS }, (_, counter) => ids.filter((id) => counterOf(id) === counter).length);
    for (const share of shares) expect(share).toBeGreaterThan(4_000 / POLL_COUNTERS / 2);
    expect(ids.map(counterOf)).toEqual(ids.map(counterOf));
  });

  test("that are cast while the poll closes are counted if and only if the response says so", async () => {
    const poll = await newPoll();
    const fans = await crowd(200);
    const casting = fans.map((fan) => vote(poll, fan));
    const closing = patch(poll, { open: false });
    const outcomes = await Promise.all(casting);
    await closing;
    const late = await Promise.all((await crowd(20)).map((fan) => vote(poll, fan)));
    for (const outcome of late) expect(outcome).toMatchObject({ ok: false, code: "poll_closed" });
    const accepted = outcomes.filter(({ ok }) => ok).length;
    expect((await results(poll)).total).toBe(accepted);
    expect(Object.values(await storedCounts(poll)).reduce((sum, count) => sum + count, 0)).toBe(accepted);
  });
});

describe("a counter", () => {
  test("stores nothing for a poll that doesn't exist", async () => {
    const [pollId, accountId] = [newId(1), newId(2)];
    const outcome = await castVote(env, site.id, { pollId, accountId, answerId: newId(3), requestId: "once" });
    expect(outcome).toMatchObject({ ok: false, code: "not_found" });
    const counter = counterAt(env, site.id, pollId, counterOf(accountId));
    expect(await counter.votesOf(accountId)).toEqual([]);
    const tables = await runInDurableObject(counter, (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'votes'").toArray(),
    );
    expect(tables).toEqual([]);
  });

  test("writes its votes to the database by alarm, once, even if a batch is written twice", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const outcome = await vote(poll, fan);
    const counter = counterAt(env, site.id, poll._id, counterOf(fan));
    await vi.waitUntil(async () => (await runDurableObjectAlarm(counter)) || Object.keys(await storedCounts(poll)).length > 0);
    await vi.waitUntil(async () => Object.keys(await storedCounts(poll)).length > 0);
    if (outcome.ok) await writeVotes(env, { siteId: site.id, pollId: poll._id, counter: 0 }, [{ ...outcome.vote, seq: 1, channelId: "" }]);
    expect(await storedCounts(poll)).toEqual({ [idOf(poll, 0)]: 1 });
  });

  test("writes votes by alarm that were counted before a crash", async () => {
    const poll = await newPoll();
    const fans = await crowd(20);
    await Promise.all(fans.map((fan) => vote(poll, fan, 1)));
    await abortAllDurableObjects();
    await vi.waitUntil(async () => (await storedCounts(poll))[idOf(poll, 1)] === 20, { interval: 50 });
    expect((await results(poll)).total).toBe(20);
  });

  test("keeps counting while the database fails, and writes later", async () => {
    const poll = await newPoll();
    const fans = await crowd(3);
    expect((await vote(poll, fans[0] ?? "")).ok).toBe(true);
    const batch = vi.spyOn(siteStore, "batch").mockRejectedValue(new Error("down"));
    for (const fan of fans.slice(1)) expect((await vote(poll, fan)).ok).toBe(true);
    batch.mockRestore();
    await vi.waitUntil(async () => (await storedCounts(poll))[idOf(poll, 0)] === 3, { interval: 50 });
  });

  test("applies the latest definition, in whatever order they arrive", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const counter = counterAt(env, site.id, poll._id, counterOf(fan));
    const answers = poll.answers.map(({ _id, answer, imageUrl }) => ({ id: _id, answer, imageUrl }));
    const definition = { version: 5, open: false, hideResults: false, responsesPerViewer: 1, answers, correctAnswerId: null };
    await counter.define(definition);
    await counter.define({ ...definition, version: 4, open: true });
    expect(await vote(poll, fan)).toMatchObject({ code: "poll_closed" });
  });

  test("rejects votes for an answer that is being removed, even if an older definition arrives in the meantime", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const counter = counterAt(env, site.id, poll._id, counterOf(fan));
    const current = await pollDefinition(env, site.id, poll._id);
    if (!current) throw new Error("The poll doesn't exist");
    await counter.hold({ by: "one", version: current.version + 1, answerIds: [idOf(poll, 0)] });
    await counter.hold({ by: "other", version: current.version + 1, answerIds: [idOf(poll, 1)] });
    await counter.define(current);
    await counter.define({ ...current, version: current.version + 1 });
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: false, code: "conflict" });
    await counter.release("other");
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: false, code: "conflict" });
    await counter.define({ ...current, version: current.version + 2 });
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: true });
  });

  test("immediately accepts votes again for an answer that wasn't removed because another change came first", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const hold = vi.spyOn(PollCounter.prototype, "hold");
    const batch = siteStore.batch.bind(siteStore);
    vi.spyOn(siteStore, "batch").mockImplementation(async <T>(statements: D1PreparedStatement[]) => {
      if (hold.mock.calls.length > 0)
        await db
          .update(polls)
          .set({ version: sql`${polls.version} + 1` })
          .where(eq(polls.id, poll._id));
      return batch<T>(statements);
    });
    const body = poll.answers.slice(1).map(({ _id, answer }) => ({ _id, answer }));
    expect((await site.call("replacePollAnswers", { params: { id: poll._id }, body })).status).toBe(409);
    expect(hold).toHaveBeenCalled();
    expect(await vote(poll, fan, 0)).toMatchObject({ ok: true });
  });

  test("follows the row if a request died between its commit and the counters", async () => {
    const poll = await newPoll();
    const fans = await crowd(2);
    expect((await vote(poll, fans[0] ?? "")).ok).toBe(true);
    await siteStore.prepare("UPDATE polls SET open = 0, version = version + 1 WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, site.id, poll._id);
    expect(await vote(poll, fans[1] ?? "")).toMatchObject({ code: "poll_closed" });
    await siteStore.prepare("DELETE FROM polls WHERE id = ?").bind(poll._id).run();
    await syncCounters(env, site.id, poll._id);
    expect(await vote(poll, fans[1] ?? "")).toMatchObject({ code: "not_found" });
    expect(await Promise.all(countersOf(env, site.id, poll._id).map((counter) => counter.tally()))).toEqual(
      Array.from({ length: POLL_COUNTERS }, () => ({})),
    );
    expect(await storedCounts(poll)).toEqual({});
  });

  test("doesn't store the account of a vote if it was deleted before the vote is written", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    await vote(poll, fan);
    await db.delete(accounts).where(eq(accounts.id, fan));
    await patch(poll, { open: false });
    expect(await storedCounts(poll)).toEqual({});
    expect(await counterAt(env, site.id, poll._id, counterOf(fan)).votesOf(fan)).toEqual([]);
    expect((await results(poll)).total).toBe(1);
    await patch(poll, { open: true });
    expect(await vote(poll, fan)).toMatchObject({ ok: false, code: "already_answered" });
  });
});

describe("a vote over a socket", () => {
  test("has the same result however often it is sent", async () => {
    const poll = await newPoll();
    const [fan = ""] = await crowd(1);
    const cast = { pollId: poll._id, accountId: fan, answerId: idOf(poll, 0), requestId: "frame-1" };
    const outcomes = await Promise.all([1, 2, 3].map(() => castVote(env, site.id, cast)));
    expect(outcomes).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect(await castVote(env, site.id, { ...cast, requestId: "frame-2" })).toMatchObject({ ok: false, code: "already_answered" });
    expect(await castVote(env, site.id, { ...cast, answerId: idOf(poll, 1) })).toMatchObject({ ok: false, code: "already_answered" });
    expect(await castVote(env, site.id, { ...cast, pollId: newId(1) })).toMatchObject({ ok: false, code: "not_found" });
  });
});

describe("what an account has answered", () => {
  test("is complete, including votes that aren't in the database yet, and correct or incorrect once settled", async () => {
    const [fan = ""] = await crowd(1);
    const polls = [await newPoll(), await newPoll({ type: "trivia" }), await newPoll({ responsesPerViewer: 2 })];
    const [first, second, third] = polls;
    if (!first || !second || !third) throw new Error("Polls are missing");
    for (const poll of [first, second, third]) await vote(poll, fan);
    await vote(third, fan, 2);
    await site.call("settlePoll", { params: { id: first._id }, body: { correctAnswerId: idOf(first, 0) } });
    await site.call("settlePoll", { params: { id: second._id }, body: { correctAnswerId: idOf(second, 1) } });
    const answered = await answeredPolls({ env, db, siteId: site.id }, fan);
    const short = answered.map(({ pollId, pollType, answerId, correct }) => ({ pollId, pollType, answerId, correct }));
    expect(short).toHaveLength(4);
    expect(short).toEqual(
      expect.arrayContaining([
        { pollId: first._id, pollType: "prediction", answerId: idOf(first, 0), correct: true },
        { pollId: second._id, pollType: "trivia", answerId: idOf(second, 0), correct: false },
        { pollId: third._id, pollType: "prediction", answerId: idOf(third, 0), correct: null },
        { pollId: third._id, pollType: "prediction", answerId: idOf(third, 2), correct: null },
      ]),
    );
  });
});
