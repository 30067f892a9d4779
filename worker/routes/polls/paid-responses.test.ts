import { z } from "@hono/zod-openapi";
import { env } from "cloudflare:workers";
import { and, eq, like } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import { outbox } from "#db/schema/events.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { idOf, pollCalls, storedResponses } from "#test/polls.ts";
import { type Buyer, callAs, newBuyer } from "#test/purchases.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { syncCounters } from "#worker/services/polls/counting.ts";
import { PollResponse } from "#worker/services/polls/schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { MAX_BALANCE, Wallet, WalletTransaction } from "#worker/services/wallets/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const COST = 50;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const { newPoll, patch, settle, results } = pollCalls(() => site);
const paidPoll = (fields: Record<string, unknown> = {}) => newPoll({ responseCost: COST, ...fields });

/** An account with this balance. */
async function newFan(balance: number): Promise<{ fan: Buyer; walletId: string }> {
  const fan = await newBuyer(site);
  const { _id: walletId } = (await callAs(site, fan, "getWallet")).as(Wallet);
  if (balance > 0) await credit(walletId, balance);
  return { fan, walletId };
}

const credit = (walletId: string, amount: number) =>
  site.call("createWalletTransaction", { params: { id: walletId }, body: { transactionId: randomHex(6), amount, reason: "Start" } });
const answer = (fan: Buyer, id: string, answerId: string, body: Record<string, unknown> = { cost: COST }, headers = {}) =>
  callAs(site, fan, "respondToPoll", { params: { id }, body: { answerId, ...body }, headers });
const balanceOf = async (fan: Buyer) => (await callAs(site, fan, "getWallet")).as(Wallet).balance;
const history = async (walletId: string) =>
  (await site.call("listWalletTransactions", { params: { id: walletId } })).as(listOf(WalletTransaction)).results;
const remove = async (id: string) => expect((await site.call("deletePoll", { params: { id } })).status).toBe(200);

describe("a response to a poll that costs something", () => {
  test("debits the wallet and returns the cost and the balance", async () => {
    const poll = await paidPoll();
    const { fan, walletId } = await newFan(120);
    const response = await answer(fan, poll._id, idOf(poll, 0));
    expect(response.as(PollResponse)).toMatchObject({ answerId: idOf(poll, 0), charged: COST, balance: 70 });
    const [debit] = await history(walletId);
    expect(debit).toMatchObject({ amount: -COST, balance: 70, reference: `poll/${poll._id}`, createdBy: `account:${fan.id}` });
    expect((await results(poll._id)).total).toBe(1);
    const [own, ...others] = (await callAs(site, fan, "listOwnPollResponses", { params: { id: poll._id } })).as(z.array(PollResponse));
    expect(own).toMatchObject({ answerId: idOf(poll, 0), userId: fan.id, charged: COST });
    expect(others).toEqual([]);
  });

  test("has its debit and its row at once, and the debit its event", async () => {
    const poll = await paidPoll();
    const { fan } = await newFan(COST);
    await answer(fan, poll._id, idOf(poll, 0));
    expect(await storedResponses(poll._id)).toMatchObject([{ accountId: fan.id, n: 1, charged: COST }]);
    await expect
      .poll(async () => (await site.call("listEvents", { query: { types: "wallet.transactionCreated" } })).text)
      .toContain(`tifo/poll/${poll._id}/${fan.id}/1`);
  });

  test("of an account that can't pay is a 409 that changes nothing, and succeeds once it can", async () => {
    const poll = await paidPoll();
    const { fan, walletId } = await newFan(COST - 1);
    expect((await answer(fan, poll._id, idOf(poll, 0))).problem).toMatchObject({ status: 409, code: "insufficient_balance" });
    expect(await storedResponses(poll._id)).toEqual([]);
    expect((await results(poll._id)).total).toBe(0);
    await credit(walletId, 1);
    expect((await answer(fan, poll._id, idOf(poll, 1))).status).toBe(201);
    expect(await balanceOf(fan)).toBe(0);
  });

  test("isn't accepted without a wallet", async () => {
    const poll = await paidPoll();
    expect((await answer(await newBuyer(site), poll._id, idOf(poll, 0))).problem?.code).toBe("insufficient_balance");
  });

  test.for([{}, { cost: 0 }, { cost: COST - 1 }, { cost: COST + 1 }])("with %j instead of the cost is a 409 and free", async (body) => {
    const poll = await paidPoll();
    const { fan } = await newFan(500);
    expect((await answer(fan, poll._id, idOf(poll, 0), body)).problem).toMatchObject({ status: 409, code: "conflict" });
    expect(await balanceOf(fan)).toBe(500);
  });

  test("with a cost is a 409 if the poll is free", async () => {
    const poll = await newPoll();
    const { fan } = await newFan(500);
    expect((await answer(fan, poll._id, idOf(poll, 0))).problem?.code).toBe("conflict");
    expect(await balanceOf(fan)).toBe(500);
  });

  test.for([{ cost: -50 }, { cost: 0.5 }, { cost: MAX_BALANCE + 1 }, { cost: "50" }])("rejects %j", async (body) => {
    const poll = await paidPoll();
    const { fan } = await newFan(500);
    expect(await answer(fan, poll._id, idOf(poll, 0), body)).toMatchObject({ status: 400, fields: ["cost"] });
  });

  test("is paid for once if several arrive at once", async () => {
    const poll = await paidPoll();
    const { fan } = await newFan(500);
    const statuses = await Promise.all([0, 1, 2, 0].map(async (index) => (await answer(fan, poll._id, idOf(poll, index))).status));
    expect(statuses.sort()).toEqual([201, 409, 409, 409]);
    expect(await balanceOf(fan)).toBe(450);
  });

  test("is paid for each time if the poll allows several", async () => {
    const poll = await paidPoll({ responsesPerViewer: 3 });
    const { fan } = await newFan(120);
    const sent = await Promise.all([0, 1, 2].map((index) => answer(fan, poll._id, idOf(poll, index))));
    expect(sent.map(({ problem }) => problem?.code).sort()).toEqual(["insufficient_balance", undefined, undefined]);
    expect(await balanceOf(fan)).toBe(20);
    expect((await results(poll._id)).total).toBe(2);
  });

  test("to two polls at once, for which the balance suffices once, succeeds once", async () => {
    const polls = [await paidPoll(), await paidPoll()];
    const { fan } = await newFan(COST);
    const statuses = await Promise.all(polls.map(async (poll) => (await answer(fan, poll._id, idOf(poll, 0))).status));
    expect(statuses.sort()).toEqual([201, 409]);
    expect(await balanceOf(fan)).toBe(0);
  });

  test("with the same Idempotency-Key is paid for once", async () => {
    const poll = await paidPoll({ responsesPerViewer: 5 });
    const { fan } = await newFan(500);
    const headers = { "Idempotency-Key": `paid-${poll._id}` };
    const [first, second] = [
      await answer(fan, poll._id, idOf(poll, 0), undefined, headers),
      await answer(fan, poll._id, idOf(poll, 0), undefined, headers),
    ];
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(await balanceOf(fan)).toBe(450);
  });

  test("to a closed poll is free", async () => {
    const poll = await paidPoll({ open: false });
    const { fan } = await newFan(500);
    expect((await answer(fan, poll._id, idOf(poll, 0))).problem?.code).toBe("poll_closed");
    expect(await balanceOf(fan)).toBe(500);
  });

  test("to another site's poll is a 404 and free", async () => {
    const foreign = await newPoll({ responseCost: COST }, await newSite());
    const { fan } = await newFan(500);
    expect((await answer(fan, foreign._id, idOf(foreign, 0))).status).toBe(404);
    expect(await balanceOf(fan)).toBe(500);
  });

  test("is either rejected or counted and paid for when the poll closes at the same moment", async () => {
    const poll = await paidPoll();
    const fans = await Promise.all(Array.from({ length: 6 }, () => newFan(COST)));
    const [closed, ...sent] = await Promise.all([
      patch(poll._id, { open: false }),
      ...fans.map(({ fan }) => answer(fan, poll._id, idOf(poll, 0))),
    ]);
    expect(closed.status).toBe(200);
    const paid = await Promise.all(fans.map(async ({ fan }) => (await balanceOf(fan)) === 0));
    expect(sent.map(({ status }) => status === 201)).toEqual(paid);
    expect((await results(poll._id)).total).toBe(paid.filter(Boolean).length);
    expect(await storedResponses(poll._id)).toHaveLength(paid.filter(Boolean).length);
  });
});

describe("what a response costs", () => {
  test("can only change while the poll is closed", async () => {
    const poll = await paidPoll();
    expect((await patch(poll._id, { responseCost: 60 })).problem).toMatchObject({ status: 409, code: "conflict" });
    await patch(poll._id, { open: false });
    expect((await patch(poll._id, { responseCost: 60, open: true })).body).toMatchObject({ responseCost: 60, open: true });
    const { fan } = await newFan(60);
    expect((await answer(fan, poll._id, idOf(poll, 0))).problem?.code).toBe("conflict");
    expect((await answer(fan, poll._id, idOf(poll, 0), { cost: 60 })).status).toBe(201);
  });

  test("is nothing by default", async () => {
    expect(await newPoll()).toMatchObject({ responseCost: 0 });
  });

  test.for([-1, 1.5, MAX_BALANCE + 1])("can't be %s", async (responseCost) => {
    const body = { siteId: site.id, type: "poll", question: "?", name: "?", open: true, responseCost };
    expect(await site.call("createPoll", { body })).toMatchObject({ status: 400, fields: ["responseCost"] });
  });
});

describe("deleting a poll that costs something", () => {
  const gone = (id: string) => vi.waitUntil(async () => (await storedResponses(id)).length === 0, { interval: 20 });

  test("refunds every response, once", async () => {
    const poll = await paidPoll({ responsesPerViewer: 2 });
    const fans = await Promise.all([newFan(100), newFan(70)]);
    for (const { fan } of fans) await answer(fan, poll._id, idOf(poll, 0));
    await answer(fans[0].fan, poll._id, idOf(poll, 1));
    await remove(poll._id);
    await gone(poll._id);
    // Whatever else runs for the poll by now.
    await syncCounters(env, site.id, poll._id);
    expect(await Promise.all(fans.map(({ fan }) => balanceOf(fan)))).toEqual([100, 70]);
    expect((await history(fans[0].walletId)).map(({ amount }) => amount)).toEqual([50, 50, -50, -50, 100]);
  });

  test("refunds nothing once it is settled", async () => {
    const poll = await paidPoll();
    const { fan } = await newFan(COST);
    await answer(fan, poll._id, idOf(poll, 0));
    await settle(poll._id, idOf(poll, 0));
    await remove(poll._id);
    await gone(poll._id);
    expect(await balanceOf(fan)).toBe(0);
  });

  test("refunds the price that was paid, not the current one", async () => {
    const poll = await paidPoll();
    const { fan } = await newFan(COST);
    await answer(fan, poll._id, idOf(poll, 0));
    await patch(poll._id, { open: false });
    await patch(poll._id, { responseCost: 500 });
    await remove(poll._id);
    await gone(poll._id);
    expect(await balanceOf(fan)).toBe(COST);
  });

  test("skips a wallet that can't hold its refund, and refunds the others", async () => {
    const poll = await paidPoll();
    const [full, other] = await Promise.all([newFan(COST), newFan(COST)]);
    for (const { fan } of [full, other]) await answer(fan, poll._id, idOf(poll, 0));
    await credit(full.walletId, MAX_BALANCE);
    await remove(poll._id);
    await gone(poll._id);
    expect(await Promise.all([full, other].map(({ fan }) => balanceOf(fan)))).toEqual([MAX_BALANCE, COST]);
  });

  test("leaves nobody charged for nothing if responses arrive at the same moment", async () => {
    const poll = await paidPoll();
    const fans = await Promise.all(Array.from({ length: 6 }, () => newFan(COST)));
    await Promise.all([remove(poll._id), ...fans.map(({ fan }) => answer(fan, poll._id, idOf(poll, 0)))]);
    await vi.waitUntil(async () => (await db.$count(outbox, and(eq(outbox.siteId, site.id), like(outbox.type, "poll.%")))) === 0);
    await expect.poll(() => db.$count(pollResponses, eq(pollResponses.pollId, poll._id))).toBe(0);
    expect(await Promise.all(fans.map(({ fan }) => balanceOf(fan)))).toEqual(fans.map(() => COST));
  });

  test("doesn't stop at an account that was deleted", async () => {
    const poll = await paidPoll();
    const [left, other] = await Promise.all([newFan(COST), newFan(COST)]);
    for (const { fan } of [left, other]) await answer(fan, poll._id, idOf(poll, 0));
    await site.call("deleteAccount", { params: { id: left.fan.id } });
    await remove(poll._id);
    await gone(poll._id);
    expect(await balanceOf(other.fan)).toBe(COST);
  });
});
