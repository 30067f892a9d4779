import type { Stripe } from "stripe";
import type { StripeRequirements } from "#db/types.ts";
import { Failure } from "#worker/lib/errors.ts";
import { callStripe, required } from "./stripe-client.ts";

// Connected accounts: one per site, created by the platform and completed by the site's owner on Stripe's pages.

/** What an account may do at Stripe, and what Stripe still requires. */
export interface AccountState {
  chargesEnabled: boolean;
  payoutsEnabled: boolean;
  detailsSubmitted: boolean;
  requirements: StripeRequirements;
}

export interface StripeAccountState extends AccountState {
  id: string;
}

export interface AccountLink {
  url: string;
  /** Milliseconds since 1970 UTC. */
  expiresAt: number;
}

/** Creates a site's account, idempotent by connection. */
export async function createAccount(
  env: Env,
  { connectionId, siteId }: { connectionId: string; siteId: string },
): Promise<StripeAccountState> {
  const created = await callStripe(env, null, `connection-${connectionId}`, (stripe, options) =>
    stripe.accounts.create(
      {
        // The owner uses Stripe's full dashboard, pays Stripe's fees and provides the required data: the platform never sees it.
        controller: {
          fees: { payer: "account" },
          losses: { payments: "stripe" },
          requirement_collection: "stripe",
          stripe_dashboard: { type: "full" },
        },
        metadata: { siteId, connectionId },
      },
      options,
    ),
  );
  return toState(required(created));
}

/** Creates a single-use link to the page where the owner connects the account. */
export async function createAccountLink(
  env: Env,
  account: string,
  { returnUrl, refreshUrl }: { returnUrl: string; refreshUrl: string },
): Promise<AccountLink> {
  const created = await callStripe(env, null, null, (stripe, options) =>
    stripe.accountLinks.create({ account, type: "account_onboarding", return_url: returnUrl, refresh_url: refreshUrl }, options),
  );
  const { url, expires_at: expires } = required(created);
  return { url, expiresAt: expires * 1000 };
}

/** The account's current state; undefined once its owner has revoked the platform's access. */
export async function retrieveAccount(env: Env, id: string): Promise<StripeAccountState | undefined> {
  try {
    return toState(required(await callStripe(env, null, null, (stripe, options) => stripe.accounts.retrieve(id, {}, options))));
  } catch (error) {
    if (error instanceof Failure && isAccessRevoked(error.cause)) return undefined;
    throw error;
  }
}

function isAccessRevoked(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "account_invalid";
}

function toState({ id, charges_enabled, payouts_enabled, details_submitted, requirements }: Stripe.Account): StripeAccountState {
  return {
    id,
    chargesEnabled: charges_enabled,
    payoutsEnabled: payouts_enabled,
    detailsSubmitted: details_submitted,
    requirements: {
      currentlyDue: requirements?.currently_due ?? [],
      pastDue: requirements?.past_due ?? [],
      disabledReason: requirements?.disabled_reason ?? null,
    },
  };
}
