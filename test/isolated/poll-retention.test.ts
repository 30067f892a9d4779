import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { pollResponses, polls } from "#db/schema/engagement/polls.ts";
import { counterOf } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { VoteStore } from "#worker/durable-objects/poll-counter/vote-store.ts";
import { counterAt, countersOf } from "#worker/durable-objects/stubs.ts";
import { prunePollResponses } from "#worker/services/polls/retention.ts";
import { newSite, type TestSite } from "../harness.ts";
import { idOf, type Poll, pollsOf } from "./polls.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const DAY = 86_400_000;
const later = () => Date.now() + 400 * DAY + 60_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, crowd, vote, patch, counts } = pollsOf(() => site);

/** A poll with these votes, two for the first answer and one for the second, which is closed. */
async function closedPoll(): Promise<{ poll: Poll; fans: string[] }> {
  const poll = await newPoll();
  const fans = await crowd(3);
  for (const [index, fan] of fans.entries()) expect((await vote(poll, fan, index === 2 ? 1 : 0)).ok).toBe(true);
  await patch(poll, { open: false });
  return { poll, fans };
}

const rowsOf = (poll: Poll) => db.$count(pollResponses, eq(pollResponses.pollId, poll._id));
const settle = (poll: Poll, answer: number) =>
  site.call("settlePoll", { params: { id: poll._id }, body: { correctAnswerId: idOf(poll, answer) } });
const prunedAt = async (poll: Poll) => {
  const [row] = await db.select({ at: polls.responsesPruned }).from(polls).where(eq(polls.id, poll._id));
  return row?.at;
};

/** The accounts in the poll's counters. */
async function votersOf(poll: Poll): Promise<string[]> {
  const found = await Promise.all(
    countersOf(env, site.id, poll._id).map((counter) =>
      runInDurableObject(counter, (_: PollCounter, { storage: { sql } }) => {
        // A counter without votes has no table.
        const tables = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'votes'").toArray();
        return tables.length === 0 ? [] : sql.exec<{ id: string }>("SELECT account_id AS id FROM votes").toArray();
      }),
    ),
  );
  return found.flat().map(({ id }) => id);
}

test("the responses to a poll are deleted 400 days after it was closed, and its tally stays", async () => {
  const { poll, fans } = await closedPoll();
  await prunePollResponses({ env, db, now: Date.now() + 399 * DAY });
  expect(await rowsOf(poll)).toBe(3);
  await prunePollResponses({ env, db, now: later() });
  expect(await rowsOf(poll)).toBe(0);
  expect(await counts(poll)).toEqual([2, 1, 0]);
  const voters = await votersOf(poll);
  expect(voters).toHaveLength(3);
  for (const fan of fans) expect(voters).not.toContain(fan);
});

test("the responses to an open poll stay, however old it is", async () => {
  const poll = await newPoll();
  const [fan = ""] = await crowd(1);
  await vote(poll, fan);
  await prunePollResponses({ env, db, now: later() });
  expect(await votersOf(poll)).toEqual([fan]);
  expect(await prunedAt(poll)).toBeNull();
});

test("responses stay as long as the poll if the operator sets 0 days", async () => {
  const { poll } = await closedPoll();
  await prunePollResponses({ env: { ...env, TIFO_POLL_RETENTION_DAYS: "0" }, db, now: later() });
  expect(await rowsOf(poll)).toBe(3);
});

test("a poll whose responses are gone can't get another outcome, but can be opened for those who haven't voted", async () => {
  const { poll } = await closedPoll();
  expect((await settle(poll, 0)).status).toBe(200);
  await prunePollResponses({ env, db, now: later() });
  expect((await settle(poll, 0)).status).toBe(200);
  const corrected = await settle(poll, 1);
  expect(corrected.status).toBe(409);
  expect(corrected.text).toContain("have been deleted");

  const other = await closedPoll();
  await prunePollResponses({ env, db, now: later() });
  expect((await settle(other.poll, 0)).status).toBe(409);
  await patch(other.poll, { open: true });
  expect(await prunedAt(other.poll)).toBeNull();
  expect(await vote(other.poll, other.fans[0] ?? "", 1)).toMatchObject({ ok: false, code: "already_answered" });
  const [another = ""] = await crowd(1);
  expect((await vote(other.poll, another, 1)).ok).toBe(true);
  expect(await counts(other.poll)).toEqual([2, 2, 0]);
});

test("a paid response to a poll without an outcome stays, so that it can be refunded", async () => {
  const open = await closedPoll();
  const settled = await closedPoll();
  expect((await settle(settled.poll, 0)).status).toBe(200);
  for (const { fans } of [open, settled])
    await db
      .update(pollResponses)
      .set({ charged: 50 })
      .where(eq(pollResponses.accountId, fans[0] ?? ""));
  await prunePollResponses({ env, db, now: later() });
  expect(await rowsOf(open.poll)).toBe(1);
  expect(await rowsOf(settled.poll)).toBe(0);
});

test("a poll whose counter fails is pruned by a later run, and doesn't hold up the others", async () => {
  const failing = await closedPoll();
  const other = await closedPoll();
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(PollCounter.prototype, "anonymizeMore").mockImplementationOnce(() => {
    throw new Error("The object died");
  });
  await prunePollResponses({ env, db, now: later() });
  expect(await Promise.all([rowsOf(failing.poll), rowsOf(other.poll)])).toEqual([3, 0]);
  await prunePollResponses({ env, db, now: later() });
  expect(await rowsOf(failing.poll)).toBe(0);
});

test("a counter anonymizes accounts in groups, and none while its poll is open", async () => {
  const poll = await newPoll({ responsesPerViewer: 2 });
  const fans = (await crowd(200)).filter((id) => counterOf(id) === 0).slice(0, 3);
  for (const fan of fans) {
    await vote(poll, fan, 0);
    await vote(poll, fan, 1);
  }
  const run = (limit: number) =>
    runInDurableObject(counterAt(env, site.id, poll._id, 0), (_: PollCounter, { storage }) => new VoteStore(storage).anonymizeMore(limit));
  expect(await run(2)).toBe(false);
  expect((await votersOf(poll)).filter((id) => id.startsWith("-"))).toEqual([]);
  await patch(poll, { open: false });
  for (const [more, anonymous] of [[true, 2] as const, [false, 3] as const]) {
    expect(await run(2)).toBe(more);
    expect(new Set((await votersOf(poll)).filter((id) => id.startsWith("-"))).size).toBe(anonymous);
  }
});
