import { hasStripe } from "#worker/integrations/stripe-client.ts";
import { verifyApplePay } from "#worker/integrations/stripe.ts";
import { invalid } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { getSite } from "#worker/services/sites/current-site.ts";
import { requireAccount } from "./stripe-connect.ts";

// What other areas use of billing.
export { cancelRecurring, stopAccountPayments } from "./recurring.ts";
export { refundCharge } from "./refunds.ts";
export { hasStripe };

/** Registers one of the site's domains with Stripe, and returns whether Apple Pay can be offered on it. */
export async function checkApplePay(ctx: Ctx, domain?: string): Promise<boolean> {
  await ctx.caller();
  const site = await getSite(ctx);
  const hosts = site.settings.security.allowedOrigins.map((origin) => new URL(origin)).filter(({ protocol }) => protocol === "https:");
  const host = hosts.map(({ hostname }) => hostname).find((name) => domain === undefined || name === domain);
  if (host === undefined) throw invalid("domain", "Must be the host of an https origin in the site's settings.security.allowedOrigins");
  const { stripeAccount } = await requireAccount(ctx);
  return verifyApplePay(ctx.env, stripeAccount, host);
}
