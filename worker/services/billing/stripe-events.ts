import { eq, or } from "drizzle-orm";
import { type ChargeRow, charges, recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { readEvent, type StripeNotice } from "#worker/integrations/stripe.ts";
import { unauthenticated } from "#worker/lib/errors.ts";
import { settleCharge } from "./charges.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { ctxOf, everyDb } from "#worker/services/core/databases.ts";
import { syncRecurring } from "./recurring.ts";
import { syncRefunds } from "./refunds.ts";
import { disconnectAccount, syncAccount } from "./stripe-connect.ts";

/**
 * Handles an event from Stripe, given the signed bytes. The event only says what to sync; the state is then read from Stripe, so events may
 * arrive twice, late or in any order, or refer to something unrelated. After an error response, Stripe sends the event again.
 */
export async function receiveEvent(ctx: Ctx, body: string, signature: string): Promise<void> {
  const notice = await readEvent(ctx.env, body, signature);
  if (!notice) throw unauthenticated("The Stripe-Signature doesn't match the body, or is too old");
  const { type, account } = notice;
  if (type.startsWith("account.")) {
    // Nothing is stored about the platform's own account.
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

/** Every shard is asked: the event names no site. */
async function lookUp(ctx: Ctx, { chargeId, paymentId, subscriptionId }: StripeNotice) {
  const isNamed = or(eq(charges.id, chargeId ?? ""), eq(charges.stripePaymentId, paymentId ?? ""));
  const isSubscription = eq(recurringSubscriptions.stripeSubscriptionId, subscriptionId ?? "");
  const reads = everyDb(ctx).map((db) =>
    db.batch([db.select().from(charges).where(isNamed), db.select().from(recurringSubscriptions).where(isSubscription)]),
  );
  const found = await Promise.all(reads);
  const rows: ChargeRow[] = found.flatMap(([ofShard]) => ofShard);
  return { found: rows, recurring: found.flatMap(([, recurring]) => recurring) };
}

/** The system actor on the site that the event belongs to. */
function systemOf(ctx: Ctx, siteId: string): Ctx {
  return { ...ctxOf(ctx, siteId), caller: () => Promise.resolve({ kind: "system" }) };
}
