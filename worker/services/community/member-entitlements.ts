import { and, eq } from "drizzle-orm";
import { accountEntitlements, type EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import { nextStep, type Step } from "#worker/services/subscriptions/entitlement-state.ts";
import { conflict, notFound } from "#worker/lib/errors.ts";
import type { UpdateQuery } from "./schemas.ts";
import { commit, commitIfUnchanged, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { planStep } from "#worker/services/subscriptions/entitlements.ts";
import { cancelRecurring } from "#worker/services/billing/recurring.ts";
import { refundOnce } from "#worker/services/billing/refunds.ts";

/** The outcome of an action on an entitlement. */
export type Outcome = { success: true } | { success: false; message: string };

/**
 * Performs an action on a member's entitlement: first ends recurring payments, then the entitlement, then refunds. Repeating a call that
 * failed halfway completes it without taking any step twice.
 */
export async function updateMemberEntitlement(ctx: Ctx, input: UpdateQuery): Promise<Outcome> {
  const row = await readEntitlement(ctx, input);
  const step = nextStep(row, input.action, { payBack: input.grantRefund });
  if (!step.allowed) return { success: false, message: step.message };
  const left = row.price - row.refunded;
  if (step.paysBack && (input.refundAmount ?? 0) > left) return { success: false, message: `At most ${left} can be refunded` };
  const isRecurring = step.stopsBilling !== null && row.source?.startsWith("recurring/");
  if (isRecurring || step.paysBack) requireStripe(ctx.env);
  if (isRecurring && row.source !== null && step.stopsBilling !== null) {
    const cancelled = await cancelRecurring(ctx, { source: row.source, when: step.stopsBilling });
    if (!cancelled.success) return cancelled;
  }
  // Cancelling the payments may already have ended the entitlement.
  if (step.status !== row.status) await takeStep(ctx, isRecurring ? await readEntitlement(ctx, input) : row, input, step);
  return step.paysBack ? refundEntitlement(ctx, row, input, step) : { success: true };
}

async function readEntitlement(ctx: Ctx, { id, accountId }: Pick<UpdateQuery, "id" | "accountId">): Promise<EntitlementRow> {
  const [row] = await ctx.db
    .select()
    .from(accountEntitlements)
    .where(and(ownRow(ctx, accountEntitlements, id), eq(accountEntitlements.accountId, accountId)));
  if (!row) throw notFound("Entitlement not found");
  return row;
}

async function takeStep(ctx: Ctx, row: EntitlementRow, { action }: UpdateQuery, step: Step): Promise<void> {
  if (row.status === step.status) return;
  const again = nextStep(row, action);
  if (!again.allowed) throw conflict(again.message);
  const { change, event } = planStep(ctx, row, again);
  await commitIfUnchanged(ctx, change, event);
}

async function refundEntitlement(ctx: Ctx, row: EntitlementRow, input: UpdateQuery, step: Step): Promise<Outcome> {
  const { accountId, refundAmount: amount, reason = "requested_by_customer", refundDetails = null } = input;
  if (row.source === null) return { success: false, message: "There is no charge for this entitlement" };
  const keep = step.status !== "cancelled";
  // If the status is already reached, an earlier response may have been lost; a plain refund can be repeated on purpose.
  const repeated = step.status === row.status && input.action !== "justRefund";
  const refund = await refundOnce(ctx, { source: row.source, accountId, amount, reason, keep, repeated });
  if (!refund.success) return { success: false, message: refund.errorMessage ?? "The refund was declined" };
  if (!refund.isNewRefund) return { success: true };
  await commit(ctx, [], {
    type: "community.refundGranted",
    // The note may contain personal data: as an account event, it is erased with the account.
    resource: `account/${accountId}`,
    data: { entitlementId: row.id, siteId: ctx.siteId, accountId, action: input.action, amount: refund.amount, reason, refundDetails },
  });
  return { success: true };
}
