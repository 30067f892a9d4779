import type { Stripe } from "stripe";
import { Failure } from "#worker/lib/errors.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { numberOf } from "#worker/lib/variables.ts";

// Access to Stripe through its own library, which is loaded on first use.

/** The connected Stripe account to use; null for the platform's own. */
export type StripeAccount = string | null;

/** Stripe's result, or why it rejected the call. If the outcome is unknown, `unavailable` is thrown instead. */
export type StripeOutcome<T> = { ok: true; value: T } | Rejected;

/** `missing`: Stripe has no such object; `field`: the parameter that referenced it. */
interface Rejected {
  ok: false;
  missing: boolean;
  field: string | undefined;
  message: string;
}

// Statuses that don't settle the call: our key is invalid or lacks permission, the same call is still running, or we are rate limited.
const UNDECIDED = new Set([401, 403, 409, 429]);

/** Makes one call. `key` is its idempotency key. A rejection is returned; an unknown outcome throws `unavailable`. */
export async function callStripe<T>(
  env: Env,
  account: StripeAccount,
  key: string | null,
  call: (stripe: Stripe, options: Stripe.RequestOptions) => Promise<T>,
): Promise<StripeOutcome<T>> {
  const { Stripe } = await library();
  const stripe = await clientOf(env);
  const options = { ...(account !== null && { stripeAccount: account }), ...(key !== null && { idempotencyKey: key }) };
  try {
    return { ok: true, value: await call(stripe, options) };
  } catch (cause) {
    if (!(cause instanceof Stripe.errors.StripeError)) throw cause;
    const { statusCode = 0, code, param, message } = cause;
    const isFinal = statusCode >= 400 && statusCode < 500 && !UNDECIDED.has(statusCode);
    if (!isFinal) throw new Failure("unavailable", "Stripe did not respond as expected; the outcome is reconciled later", { cause });
    return { ok: false, missing: code === "resource_missing", field: param, message };
  }
}

/** The result of a call that Stripe has no reason to reject. */
export function required<T>(outcome: StripeOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Failure("unavailable", `Stripe rejected the call: ${outcome.message}`);
}

const load = () => import("stripe");
let loaded: Awaited<ReturnType<typeof load>> | undefined;

/** Stripe's library, loaded on first use. Stores the module, not a promise: another request's promise may never settle. */
export async function library(): Promise<Awaited<ReturnType<typeof load>>> {
  return (loaded ??= await load());
}

export async function clientOf(env: Env): Promise<Stripe> {
  const key = requireStripe(env);
  const { Stripe } = await library();
  const { protocol, hostname, port } = new URL(env.TIFO_STRIPE_URL);
  return new Stripe(key, {
    // Resolves `fetch` on each call: otherwise the library keeps the one it found first.
    httpClient: Stripe.createFetchHttpClient((url: RequestInfo | URL, init?: RequestInit) => fetch(url, { ...init, redirect: "manual" })),
    host: hostname,
    ...(port !== "" && { port }),
    protocol: protocol === "http:" ? "http" : "https",
    timeout: numberOf(env, "TIFO_STRIPE_TIMEOUT"),
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

/** The platform's Stripe key; a 503 if the deployment has none. */
export function requireStripe(env: Env): string {
  const key = optionalSecret(env, "TIFO_STRIPE_KEY");
  if (key === undefined) throw notConfigured();
  return key;
}

export function hasStripe(env: Env): boolean {
  return optionalSecret(env, "TIFO_STRIPE_KEY") !== undefined;
}

export function notConfigured(): Failure {
  return new Failure("billing_not_configured", "This deployment has no Stripe keys");
}
