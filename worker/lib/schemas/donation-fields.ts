import { z } from "@hono/zod-openapi";
import { ENDS_IN_ZERO, isPayable } from "#worker/lib/money.ts";
import { Id, LinkUrl } from "./common.ts";
import { Currency, Money } from "./money.ts";

// The fields of a `donations` panel, and the rules between them.

const MAX_AMOUNTS = 12;

export const donationFields = {
  url: LinkUrl.describe("The page about the cause. Without amounts, viewers donate there"),
  currency: Currency.optional().describe("The currency of the amounts; required with them"),
  amounts: z
    .array(Money.min(1))
    .max(MAX_AMOUNTS)
    .default([])
    .describe("The amounts to choose from, in minor units. With amounts or limits, viewers donate through the site's Stripe account"),
  minimum_amount: Money.min(1).optional().describe("With maximum_amount: donors may choose any amount within these limits"),
  maximum_amount: Money.min(1).optional(),
  ask_for_message: z.boolean().default(true).describe("Whether donors can add their name and a message"),
  thank_you_message: z.string().max(2000).optional().describe("Shown to the donor after the payment"),
  thank_you_overlay_id: Id.optional().describe(
    "An overlay shown on the donor's channel when a donation is paid, with the variables `name`, `message` and `amount`",
  ),
};

interface Amounts {
  currency?: string | undefined;
  amounts: number[];
  minimum_amount?: number | undefined;
  maximum_amount?: number | undefined;
}

export function donationIssues({
  currency,
  amounts,
  minimum_amount: min,
  maximum_amount: max,
}: Amounts): { path: string[]; message: string }[] {
  const issues: { path: string[]; message: string }[] = [];
  const hasLimits = min !== undefined || max !== undefined;
  if (currency === undefined && (amounts.length > 0 || hasLimits)) issues.push({ path: ["currency"], message: "Required with amounts" });
  if (currency !== undefined && amounts.length === 0 && !hasLimits)
    issues.push({ path: ["amounts"], message: "A currency requires amounts or limits" });
  if (hasLimits && min === undefined) issues.push({ path: ["minimum_amount"], message: "Required with maximum_amount" });
  if (hasLimits && max === undefined) issues.push({ path: ["maximum_amount"], message: "Required with minimum_amount" });
  if (min !== undefined && max !== undefined && min > max)
    issues.push({ path: ["maximum_amount"], message: "Must not be less than minimum_amount" });
  if (currency !== undefined && amounts.some((amount) => !isPayable(amount, currency)))
    issues.push({ path: ["amounts"], message: ENDS_IN_ZERO });
  return issues;
}
