import type { BatchItem } from "drizzle-orm/batch";
import type { ClaimRow } from "#db/schema/engagement/quests.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { planTransaction, walletFailure } from "#worker/services/wallets/ledger.ts";
import { walletOf } from "#worker/services/wallets/wallets.ts";
import { amountsOf } from "./claim-state.ts";

/**
 * The wallet's statements for the batch in which a claim changes to a status: its cost is debited or refunded, its reward credited. A
 * claim's version makes their ids unique, and commits once. `claim` is the row before the change; a new one isn't charged yet.
 */
export async function planClaimMoney(ctx: Ctx, claim: ClaimRow, { status, version }: ClaimRow): Promise<BatchItem<"sqlite">[]> {
  const { cost, reward } = amountsOf(claim, status);
  if (cost === 0 && reward === 0) return [];
  // An Idempotency-Key is used up by the claim, not by its wallet.
  const { id: walletId } = await walletOf({ ...ctx, idempotencyId: undefined }, claim.accountId);
  const actor = await ctx.caller();
  const move = (part: string, amount: number, reason: string) =>
    amount === 0
      ? []
      : planTransaction(ctx, actor, {
          walletId,
          transactionId: `tifo/claim/${claim.id}/${version}/${part}`,
          amount,
          reason,
          reference: `claim/${claim.id}`,
        });
  return [...move("cost", cost, cost < 0 ? "Claim of a reward" : "Refund of a claim"), ...move("reward", reward, "Reward of a quest")];
}

/** Runs a write with a claim's wallet statements; a 409 if the wallet can't pay the cost, or can't hold the refund or reward. */
export async function requireBalance<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw walletFailure(error) ?? error;
  }
}
