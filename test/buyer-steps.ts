import { vi } from "vitest";
import { type Behaviour, stripe } from "./stripe-server.ts";
import { siteStore } from "#test/site-store.ts";

// The steps of a simulated buyer, the clock that they advance, and the failures that they run into.

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const KINDS = [
  "buyOnce",
  "buyMonthly",
  "buyBundle",
  "buyTwice",
  "buyWithKey",
  "buyGranted",
  "refund",
  "refundAtStripe",
  "refundFails",
  "month",
  "hour",
  "cancelNow",
  "cancelLater",
  "withdraw",
  "grant",
  "revoke",
  "leave",
] as const;

export interface Step {
  kind: (typeof KINDS)[number];
  /** Selects one of several candidates. */
  pick: number;
  /** The share of the refundable amount; 1 sends no amount. */
  share: number;
  /** How often Stripe's event arrives or, without events, how many hours pass. */
  deliveries: number;
  /** How the call to Stripe after the next `after` behaves (of all calls, or of refunds), or after how many writes the database fails. */
  failure: { does: Behaviour | "die"; after: number; refunds?: boolean } | null;
}

/** The clock's offset to the real one. */
let offset = 0;

/** Advances the clock of the Worker and of Stripe. */
export function advance(ms: number): void {
  offset += ms;
}

/** Makes the clock of the Worker and of Stripe adjustable; returns a function that restores it. */
export function mockClock(): () => void {
  const real = Date.now.bind(Date);
  const spy = vi.spyOn(Date, "now").mockImplementation(() => real() + offset);
  return () => spy.mockRestore();
}

// The billing tables, to which writes fail.
const BILLING_TABLES = /^\s*(insert|update|delete)\b.*"(charges|refunds|recurring_subscriptions|account_entitlements|wallets)"/is;

/** Lets this many statements write to the billing tables; all further ones fail. */
function failWritesAfter(count: number): () => void {
  let left = count;
  const prepare = siteStore.prepare.bind(siteStore);
  const spy = vi.spyOn(siteStore, "prepare").mockImplementation((sql) => {
    if (BILLING_TABLES.test(sql) && left-- <= 0) throw new Error("The database is unavailable");
    return prepare(sql);
  });
  return () => spy.mockRestore();
}

/** Makes the next calls fail; returns a function that ends it. */
export function applyFailure(failure: Step["failure"]): () => void {
  if (failure?.does === "die") return failWritesAfter(failure.after);
  if (failure)
    stripe.behaveNext(
      failure.refunds ? /POST .*refunds/ : /./,
      ...Array.from({ length: failure.after }, () => "succeed" as const),
      failure.does,
    );
  return () => stripe.recover();
}
