import type { Stripe } from "stripe";
import { Failure } from "#worker/lib/errors.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";

// How Stripe is spoken to: by its own library, which is loaded when it is first needed.

/** The connected account at Stripe that is meant; null: the platform's own. */
export type StripeAccount = string | null;

/** What Stripe did, or why it wouldn't. Where it isn't known whether it did, `unavailable` is thrown instead. */
export type StripeOutcome<T> = { ok: true; value: T } | Refused;

/** `missing`: there is no such thing at Stripe; `field`: which one that we named. */
interface Refused {
  ok: false;
  missing: boolean;
  field: string | undefined;
  message: string;
}

// Refusals that say nothing of what was asked: our key is wrong or may not do this, the same call is still running, later.
const UNDECIDED = new Set([401, 403, 409, 429]);

/** One question. `key` makes a POST safe to repeat; what Stripe refuses is an answer, what it leaves open is `unavailable`. */
export async function ask<T>(
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
    if (!isFinal) throw new Failure("unavailable", "Stripe did not answer as it should; what it did is found out later", { cause });
    return { ok: false, missing: code === "resource_missing", field: param, message };
  }
}

/** The answer to a question that Stripe has no reason to refuse. */
export function required<T>(outcome: StripeOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Failure("unavailable", `Stripe refused: ${outcome.message}`);
}

const load = () => import("stripe");
let loaded: Awaited<ReturnType<typeof load>> | undefined;

/** Stripe's library, loaded by the first who needs it. Kept as what it is: the promise of another request may never settle. */
export async function library(): Promise<Awaited<ReturnType<typeof load>>> {
  return (loaded ??= await load());
}

export async function clientOf(env: Env): Promise<Stripe> {
  const key = requireStripe(env);
  const { Stripe } = await library();
  const { protocol, hostname, port } = new URL(env.TIFO_STRIPE_URL);
  return new Stripe(key, {
    // Asked by name each time: the library would keep the fetch that it found first.
    httpClient: Stripe.createFetchHttpClient((url: RequestInfo | URL, init?: RequestInit) => fetch(url, { ...init, redirect: "manual" })),
    host: hostname,
    ...(port !== "" && { port }),
    protocol: protocol === "http:" ? "http" : "https",
    timeout: Number(env.TIFO_STRIPE_TIMEOUT),
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

/** The platform's key at Stripe, or the 503 of a deployment without one. */
export function requireStripe(env: Env): string {
  const key = optionalSecret(env, "TIFO_STRIPE_KEY");
  if (key === undefined) throw notConfigured();
  return key;
}

export function hasStripe(env: Env): boolean {
  return optionalSecret(env, "TIFO_STRIPE_KEY") !== undefined;
}

export function notConfigured(): Failure {
  return new Failure("billing_not_configured", "This deployment has no keys to Stripe, which takes its money");
}
