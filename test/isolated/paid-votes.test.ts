import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import { counterOf, type VoteOutcome } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { PollCounter } from "#worker/durable-objects/poll-counter/poll-counter.ts";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { newSite, type TestSite } from "../harness.ts";
import { idOf, type Poll, pollsOf } from "./polls.ts";
import { atTime, evict } from "./relay-viewer.ts";
import { failNextBatch } from "#test/next-batch.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const COST = 50;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, crowd, patch, results } = pollsOf(() => site);
const counterFor = (poll: Poll, accountId: string) => counterAt(env, site.id, poll._id, counterOf(accountId));

/** An account that can pay for two votes. */
async function newFan(): Promise<string> {
  const [id = ""] = await crowd(1);
  const wallet = { id: newId(1), siteId: site.id, ownerId: id, ownerType: "account" as const, balance: 2 * COST, version: 1 };
  await db.insert(wallets).values({ ...wallet, created: 1, modified: 1 });
  return id;
}

async function booksOf(poll: Poll, accountId: string) {
  const [wallet] = await db.select().from(wallets).where(eq(wallets.ownerId, accountId));
  const debits = await db.$count(walletTransactions, eq(walletTransactions.walletId, wallet?.id ?? ""));
  return { balance: wallet?.balance, debits, rows: await db.$count(pollResponses, eq(pollResponses.pollId, poll._id)) };
}

function cast(poll: Poll, accountId: string, requestId = "first"): Promise<VoteOutcome> {
  return counterFor(poll, accountId).vote({ accountId, answerId: idOf(poll, 0), requestId, cost: COST });
}

/** What is left if the counter dies before it knows whether its debit was made. */
async function leavePending(poll: Poll, accountId: string): Promise<void> {
  await runInDurableObject(counterFor(poll, accountId), (_, { storage }) => {
    storage.sql.exec("DELETE FROM votes");
    const insert = "INSERT INTO pending VALUES (?, 1, ?, 'first', 1, '', ?)";
    storage.sql.exec(insert, accountId, idOf(poll, 0), COST);
  });
  await evict(counterFor(poll, accountId));
}

/** Runs the alarm until nothing is pending: the runtime may have started one by itself, which is still at it. */
const runAlarm = (poll: Poll, accountId: string) =>
  vi.waitFor(() =>
    runInDurableObject(counterFor(poll, accountId), async (counter: PollCounter, { storage }) => {
      await atTime(Date.now() + 3_000, () => counter.alarm());
      expect(storage.sql.exec("SELECT * FROM pending").toArray()).toEqual([]);
    }),
  );
const tallyOf = (poll: Poll, accountId: string) => counterFor(poll, accountId).tally();

describe("a vote that costs something", () => {
  test("is counted and paid for once if the counter dies after the debit", async () => {
    const [poll, fan] = [await newPoll({ responseCost: COST }), await newFan()];
    await cast(poll, fan);
    await leavePending(poll, fan);
    await runAlarm(poll, fan);
    expect(await tallyOf(poll, fan)).toEqual({ [idOf(poll, 0)]: 1 });
    expect(await booksOf(poll, fan)).toEqual({ balance: COST, debits: 1, rows: 1 });
    expect(await cast(poll, fan)).toMatchObject({ ok: true, payment: { charged: COST, balance: COST } });
    expect(await cast(poll, fan, "second")).toMatchObject({ code: "already_answered" });
  });

  test("is counted and paid for once if the counter dies before the debit", async () => {
    const [poll, fan] = [await newPoll({ responseCost: COST }), await newFan()];
    await counterFor(poll, fan).vote({ accountId: fan, answerId: idOf(poll, 0), requestId: "cheap", cost: 1 });
    await leavePending(poll, fan);
    expect(await cast(poll, fan)).toMatchObject({ ok: true, payment: { charged: COST, balance: COST } });
    await runAlarm(poll, fan);
    expect(await tallyOf(poll, fan)).toEqual({ [idOf(poll, 0)]: 1 });
    expect(await booksOf(poll, fan)).toEqual({ balance: COST, debits: 1, rows: 1 });
  });

  test("fails while the database does, and succeeds once with the same id", async () => {
    const [poll, fan] = [await newPoll({ responseCost: COST }), await newFan()];
    const batch = failNextBatch(fan, "died");
    await runInDurableObject(counterFor(poll, fan), async (counter: PollCounter) => {
      const vote = { accountId: fan, answerId: idOf(poll, 0), requestId: "first", cost: COST };
      await expect(counter.vote(vote)).rejects.toThrow("died");
      expect(await counter.vote(vote)).toMatchObject({ ok: true, payment: { balance: COST } });
    });
    batch.restore();
    expect(await booksOf(poll, fan)).toEqual({ balance: COST, debits: 1, rows: 1 });
  });

  test("is dropped if it turns out that the account can't pay", async () => {
    const [poll, fan] = [await newPoll({ responseCost: COST }), await newFan()];
    await counterFor(poll, fan).vote({ accountId: fan, answerId: idOf(poll, 0), requestId: "cheap", cost: 1 });
    // First, because the runtime may start the alarm by itself.
    await db.update(wallets).set({ balance: 0 }).where(eq(wallets.ownerId, fan));
    await leavePending(poll, fan);
    await runAlarm(poll, fan);
    expect(await tallyOf(poll, fan)).toEqual({});
    await db.update(wallets).set({ balance: COST }).where(eq(wallets.ownerId, fan));
    expect(await cast(poll, fan, "second")).toMatchObject({ ok: true });
  });

  test("is settled before the poll counts as closed: those that were paid for count, and no other", async () => {
    // An alarm that the runtime starts before the poll is closed would pay for the vote.
    const alarm = vi.spyOn(PollCounter.prototype, "alarm").mockResolvedValue();
    const [poll, paid, unpaid] = [await newPoll({ responseCost: COST }), await newFan(), await newFan()];
    await cast(poll, paid);
    await counterFor(poll, unpaid).vote({ accountId: unpaid, answerId: idOf(poll, 0), requestId: "cheap", cost: 1 });
    for (const fan of [paid, unpaid]) if (fan === paid || counterOf(paid) !== counterOf(unpaid)) await leavePending(poll, fan);
    await patch(poll, { open: false });
    alarm.mockRestore();
    expect((await results(poll)).total).toBe(1);
    expect(await booksOf(poll, unpaid)).toMatchObject({ balance: 2 * COST, debits: 0 });
  });
});
