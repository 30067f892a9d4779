import { and, eq } from "drizzle-orm";
import { accountEntitlements, type EntitlementRow } from "#db/schema/index.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import { nextStep, type Step } from "#worker/services/subscriptions/entitlement-state.ts";
import { conflict, notFound } from "#worker/lib/errors.ts";
import type { UpdateQuery } from "./schemas.ts";
import { commit, commitIfUnchanged, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { planStep } from "#worker/services/subscriptions/entitlements.ts";
import { cancelRecurring } from "#worker/services/billing/recurring.ts";
import { refundOnce } from "#worker/services/billing/refunds.ts";

/** What became of an action on an entitlement. */
export type Outcome = { success: true } | { success: false; message: string };

/**
 * Takes one of the actions on what a member holds or held: first the regular payments end, then what is held, then money goes back.
 * A call that fails in between is brought to its end by the same call; no step is taken twice.
 */
export async function updateMemberEntitlement(ctx: Ctx, input: UpdateQuery): Promise<Outcome> {
  const row = await readEntitlement(ctx, input);
  const step = nextStep(row, input.action, { payBack: input.grantRefund });
  if (!step.allowed) return { success: false, message: step.message };
  const left = row.price - row.refunded;
  if (step.paysBack && (input.refundAmount ?? 0) > left) return { success: false, message: `At most ${left} can be refunded` };
  const billed = step.stopsBilling !== null && row.source?.startsWith("recurring/");
  if (billed || step.paysBack) requireStripe(ctx.env);
  if (billed && row.source !== null && step.stopsBilling !== null) {
    const cancelled = await cancelRecurring(ctx, { source: row.source, when: step.stopsBilling });
    if (!cancelled.success) return cancelled;
  }
  // The end of the payments may have brought the end of what was bought with them.
  if (step.status !== row.status) await takeStep(ctx, billed ? await readEntitlement(ctx, input) : row, input, step);
  return step.paysBack ? payBack(ctx, row, input, step) : { success: true };
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

async function payBack(ctx: Ctx, row: EntitlementRow, input: UpdateQuery, step: Step): Promise<Outcome> {
  const { accountId, refundAmount: amount, reason = "requested_by_customer", refundDetails = null } = input;
  if (row.source === null) return { success: false, message: "There is no charge for this entitlement" };
  const keep = step.status !== "cancelled";
  // Where it stands there already, its answer may have been lost; money alone may be given back twice on purpose.
  const repeated = step.status === row.status && input.action !== "justRefund";
  const refund = await refundOnce(ctx, { source: row.source, accountId, amount, reason, keep, repeated });
  if (!refund.success) return { success: false, message: refund.errorMessage ?? "The refund was declined" };
  if (!refund.isNews) return { success: true };
  await commit(ctx, [], {
    type: "community.refundGranted",
    // The note may speak of the person: it goes from the log with the account.
    resource: `account/${accountId}`,
    data: { entitlementId: row.id, siteId: ctx.siteId, accountId, action: input.action, amount: refund.amount, reason, refundDetails },
  });
  return { success: true };
}
