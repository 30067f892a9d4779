import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { type Behaviour, stripe } from "./stripe-server.ts";

// The steps of a buyer's life, the clock that they move, and the trouble that they meet.

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const KINDS = [
  "buyOnce",
  "buyMonthly",
  "buyBundle",
  "buyTwice",
  "buyWithKey",
  "buyGiven",
  "refund",
  "refundThere",
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
  /** Which of several is meant. */
  pick: number;
  /** Of what is left of a charge; 1 asks for no amount. */
  share: number;
  /** How often Stripe's event arrives; where it tells nothing, how many hours the cron runs for. */
  told: number;
  /** What the call of Stripe after the next `after` meets, of all or for refunds; or after how many statements that write the database is gone. */
  trouble: { does: Behaviour | "die"; after: number; refunds?: boolean } | null;
}

/** How far ahead of the real clock it is. */
let ahead = 0;

/** Moves the clock of the Worker and of Stripe ahead. */
export function advance(ms: number): void {
  ahead += ms;
}

/** Lets the clock of the Worker and of Stripe be set ahead; answers what puts it right. */
export function ownClock(): () => void {
  const real = Date.now.bind(Date);
  const spy = vi.spyOn(Date, "now").mockImplementation(() => real() + ahead);
  return () => spy.mockRestore();
}

// What the books are kept in: writes to it fail once the database is gone.
const BOOKS = /^\s*(insert|update|delete)\b.*"(charges|refunds|recurring_subscriptions|account_entitlements|wallets)"/is;

/** From now on so many statements write to the books, and then none. */
function failWritesAfter(count: number): () => void {
  let left = count;
  const prepare = env.DB.prepare.bind(env.DB);
  const spy = vi.spyOn(env.DB, "prepare").mockImplementation((sql) => {
    if (BOOKS.test(sql) && left-- <= 0) throw new Error("The database is gone");
    return prepare(sql);
  });
  return () => spy.mockRestore();
}

/** Has the next calls meet trouble; returns what ends it. */
export function meet(trouble: Step["trouble"]): () => void {
  if (trouble?.does === "die") return failWritesAfter(trouble.after);
  if (trouble)
    stripe.next(trouble.refunds ? /POST .*refunds/ : /./, ...Array.from({ length: trouble.after }, () => "work" as const), trouble.does);
  return () => stripe.recover();
}
