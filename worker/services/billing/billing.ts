import { hasStripe } from "#worker/integrations/stripe-client.ts";
import { verifyApplePay } from "#worker/integrations/stripe.ts";
import { invalid } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { getSite } from "#worker/services/sites/current-site.ts";
import { requireAccount } from "./stripe-connect.ts";

// What other areas need of the books.
export { cancelRecurring, stopAllOf } from "./recurring.ts";
export { refundCharge } from "./refunds.ts";
export { hasStripe };

/** Makes one of the site's domains known to Stripe, and whether Apple Pay may be offered there now. */
export async function checkApplePay(ctx: Ctx, domain?: string): Promise<boolean> {
  await ctx.caller();
  const site = await getSite(ctx);
  const hosts = site.settings.security.allowedOrigins.map((origin) => new URL(origin)).filter(({ protocol }) => protocol === "https:");
  const host = hosts.map(({ hostname }) => hostname).find((name) => domain === undefined || name === domain);
  if (host === undefined) throw invalid("domain", "Not the host of one of the site's settings.security.allowedOrigins, by https");
  const { stripeAccount } = await requireAccount(ctx);
  return verifyApplePay(ctx.env, stripeAccount, host);
}
