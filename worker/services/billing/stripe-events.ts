import { eq, or } from "drizzle-orm";
import { type ChargeRow, charges, recurringSubscriptions } from "#db/schema/index.ts";
import { readEvent, type StripeNotice } from "#worker/integrations/stripe.ts";
import { unauthenticated } from "#worker/lib/errors.ts";
import { settleCharge } from "./charges.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { syncRecurring } from "./recurring.ts";
import { syncRefunds } from "./refunds.ts";
import { disconnectAccount, syncAccount } from "./stripe-connect.ts";

/**
 * Takes an event of Stripe's, in the bytes that it signed. The event says only what to look at: the truth is then asked for, so that
 * events may come twice, late, in any order, or name what isn't theirs. A failure here is answered, and Stripe sends it again.
 */
export async function receiveEvent(ctx: Ctx, body: string, signature: string): Promise<void> {
  const notice = await readEvent(ctx.env, body, signature);
  if (!notice) throw unauthenticated("The Stripe-Signature is not that of this body, or too old");
  const { type, account } = notice;
  if (type.startsWith("account.")) {
    // About the platform's own account, there is nothing to store.
    if (account === undefined) return;
    if (type === "account.application.deauthorized") await disconnectAccount(ctx, account);
    else await syncAccount(ctx, account);
    return;
  }
  const { found, recurring } = await lookUp(ctx, notice);
  for (const charge of found) {
    const own = systemOf(ctx, charge.siteId);
    if (charge.status === "pending") await settleCharge(own, charge);
    else if (isAboutRefunds(notice)) await syncRefunds(own, charge);
  }
  for (const one of recurring) await syncRecurring(systemOf(ctx, one.siteId), one);
}

function isAboutRefunds({ type }: StripeNotice): boolean {
  return type.startsWith("charge.") || type.startsWith("refund.");
}

async function lookUp(ctx: Ctx, { chargeId, paymentId, subscriptionId }: StripeNotice) {
  const [found, recurring] = await ctx.db.batch([
    ctx.db
      .select()
      .from(charges)
      .where(or(eq(charges.id, chargeId ?? ""), eq(charges.stripePaymentId, paymentId ?? ""))),
    ctx.db
      .select()
      .from(recurringSubscriptions)
      .where(eq(recurringSubscriptions.stripeSubscriptionId, subscriptionId ?? "")),
  ]);
  const rows: ChargeRow[] = found;
  return { found: rows, recurring };
}

/** Tifo itself, at work for the site that the event turned out to be of. */
function systemOf(ctx: Ctx, siteId: string): Ctx {
  return { ...ctx, siteId, caller: () => Promise.resolve({ kind: "system" }) };
}
