import { z } from "@hono/zod-openapi";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { wallets, walletTransactions } from "#db/schema/commerce/wallets.ts";
import { pollResponses, polls } from "#db/schema/engagement/polls.ts";
import type { PendingVote, VoteErrorCode, VotePayment } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { hasMessage } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Actor, batchAll, type Ctx, nudgeLogs } from "#worker/services/core/context.ts";
import { asSystemInEffect, systemCtx } from "#worker/services/core/system.ts";
import { planTransaction, walletFailure } from "#worker/services/wallets/ledger.ts";
import { deleteResponses } from "./counting.ts";

// Responses that cost something: the wallet is debited in the batch that writes the response.

const CLOSED = "NOT NULL constraint failed: poll_responses.n";
const REPEATED = "UNIQUE constraint failed: poll_responses.";

/** Refunds in one batch, of four statements each. */
const GROUP = 20;

export type ChargeOutcome = { ok: true; payment: VotePayment } | { ok: false; code: VoteErrorCode; message: string };

type PollKey = { siteId: string; pollId: string };
type PaidResponse = { accountId: string; n: number; charged: number; walletId: string | null };

const INSUFFICIENT: ChargeOutcome = {
  ok: false,
  code: "insufficient_balance",
  message: "The wallet's balance is lower than what the response costs",
};

const Paid = z.array(z.object({ balance: z.number() }));

/**
 * Writes a vote and debits its cost, or returns why not: the poll was closed, deleted or changed, or the wallet can't pay. A vote that was
 * written before isn't charged again, whatever has changed since.
 */
export async function chargeForVote(env: Env, poll: PollKey, vote: PendingVote): Promise<ChargeOutcome> {
  const { siteId, pollId } = poll;
  const db = siteDb(env, siteId);
  const { accountId, n, cost } = vote;
  const transactionId = debitOf(pollId, accountId, n);
  const wallet = await readWallet(db, siteId, accountId, transactionId);
  if (wallet && wallet.paid !== null) return { ok: true, payment: { charged: cost, balance: wallet.paid } };
  // Without a write, so that attempts without a balance are cheap.
  if (!wallet || wallet.balance < cost) return INSUFFICIENT;
  const ctx = systemCtx({ env, db, now: Date.now() }, siteId, `vote-${newId(vote.created)}`);
  const debit = { walletId: wallet.id, transactionId, amount: -cost, reason: "Response to a poll", reference: `poll/${pollId}` };
  const voter: Actor = { kind: "account", id: accountId, sessionId: "", roles: [], tags: [] };
  try {
    const payment = selectPayment(db, wallet.id, transactionId);
    const results: unknown[] = await db.batch([insertResponse(db, poll, vote), ...planTransaction(ctx, voter, debit), payment]);
    nudgeLogs(ctx);
    // The cron makes up for a failed nudge.
    void ctx.finish().catch(() => undefined);
    const [paid] = Paid.parse(results.at(-1));
    if (!paid) throw new Error("A vote was paid for without a transaction");
    return { ok: true, payment: { charged: cost, balance: paid.balance } };
  } catch (error) {
    const rejection = rejectionOf(error);
    if (!rejection) throw error;
    // A batch that this vote sent before its counter died may have committed meanwhile.
    const paid = (await readWallet(db, siteId, accountId, transactionId))?.paid ?? null;
    return paid === null ? rejection : { ok: true, payment: { charged: cost, balance: paid } };
  }
}

/** The account's wallet, and its balance after this transaction if there was one. */
async function readWallet(db: Db, siteId: string, accountId: string, transactionId: string) {
  const ofWallet = and(eq(walletTransactions.walletId, wallets.id), eq(walletTransactions.transactionId, transactionId));
  const [row] = await db
    .select({ id: wallets.id, balance: wallets.balance, paid: walletTransactions.balance })
    .from(wallets)
    .leftJoin(walletTransactions, ofWallet)
    .where(and(eq(wallets.siteId, siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId)));
  return row;
}

/** Without an open poll at this cost, `n` is null, which rolls the batch back. */
function insertResponse(db: Db, { siteId, pollId }: PollKey, { accountId, n, answerId, created, cost }: PendingVote): BatchItem<"sqlite"> {
  const accepts = sql`exists (select 1 from ${polls} where ${polls.siteId} = ${siteId} and ${polls.id} = ${pollId}
    and ${polls.open} = 1 and ${polls.responseCost} = ${cost})`;
  const row = { siteId, pollId, accountId, n: sql<number>`case when ${accepts} then ${n} end`, answerId, created, charged: cost };
  return db.insert(pollResponses).values(row);
}

function selectPayment(db: Db, walletId: string, transactionId: string) {
  return db
    .select({ balance: walletTransactions.balance })
    .from(walletTransactions)
    .where(and(eq(walletTransactions.walletId, walletId), eq(walletTransactions.transactionId, transactionId)));
}

function rejectionOf(error: unknown): ChargeOutcome | null {
  if (hasMessage(error, CLOSED)) return { ok: false, code: "poll_closed", message: "The poll is closed" };
  if (hasMessage(error, REPEATED)) return { ok: false, code: "already_answered", message: "You have answered this poll already" };
  return walletFailure(error) ? INSUFFICIENT : null;
}

/** Ends the paid responses of a deleted poll: they are refunded, unless the poll was settled. Idempotent. */
export async function endPaidResponses(env: Env, siteId: string, pollId: string, isSettled: boolean): Promise<void> {
  if (isSettled) return deleteResponses(env, siteId, pollId);
  await asSystemInEffect({ env, db: siteDb(env, siteId), now: Date.now() }, siteId, async (ctx) => {
    for (;;) {
      const paid = await selectPaid(ctx, pollId);
      if (paid.length === 0) return;
      await refund(ctx, pollId, paid);
    }
  });
}

function selectPaid(ctx: Ctx, pollId: string): Promise<PaidResponse[]> {
  const { accountId, n, charged } = pollResponses;
  const ofVoter = and(eq(wallets.siteId, ctx.siteId), eq(wallets.ownerType, "account"), eq(wallets.ownerId, accountId));
  return ctx.db
    .select({ accountId, n, charged, walletId: wallets.id })
    .from(pollResponses)
    .leftJoin(wallets, ofVoter)
    .where(and(eq(pollResponses.siteId, ctx.siteId), eq(pollResponses.pollId, pollId), gt(charged, 0)))
    .orderBy(asc(accountId), asc(n))
    .limit(GROUP);
}

/** Credits what was paid and deletes the responses, in one batch. A wallet that can't hold its refund doesn't hold up the others. */
async function refund(ctx: Ctx, pollId: string, responses: PaidResponse[]): Promise<void> {
  const actor = await ctx.caller();
  const deletes = responses.map(({ accountId, n }) =>
    ctx.db
      .delete(pollResponses)
      .where(
        and(
          eq(pollResponses.siteId, ctx.siteId),
          eq(pollResponses.pollId, pollId),
          eq(pollResponses.accountId, accountId),
          eq(pollResponses.n, n),
        ),
      ),
  );
  const credits = responses.flatMap(({ walletId, accountId, n, charged }) => {
    if (walletId === null) return [];
    const transactionId = `${debitOf(pollId, accountId, n)}/refund`;
    return planTransaction(ctx, actor, {
      walletId,
      transactionId,
      amount: charged,
      reason: "Refund of a response to a poll",
      reference: `poll/${pollId}`,
    });
  });
  try {
    await batchAll(ctx.db, [...credits, ...deletes]);
  } catch (error) {
    if (!walletFailure(error)) throw error;
    if (responses.length === 1) return batchAll(ctx.db, deletes);
    for (const response of responses) await refund(ctx, pollId, [response]);
  }
}

function debitOf(pollId: string, accountId: string, n: number): string {
  return `tifo/poll/${pollId}/${accountId}/${n}`;
}
