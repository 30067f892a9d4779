import { and, eq, lte, notExists, sql } from "drizzle-orm";
import { accountEntitlements, recurringSubscriptions } from "#db/schema/index.ts";
import { hasStripe } from "#worker/integrations/stripe-client.ts";
import { wonRace } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { changeEntitlement } from "./entitlements.ts";
import { asSystem } from "#worker/services/core/system.ts";

const AT_ONCE = 100;
const ROUNDS = 10;

/**
 * Ends the entitlements whose cancellation was scheduled for a day that has come. Safe to run twice at once. What is paid regularly isn't
 * among them: the cancellation may have been withdrawn at Stripe, which `reconcileBilling` asks on that day.
 */
export async function expireEntitlements({ env, db, now }: Pick<Ctx, "env" | "db" | "now">): Promise<void> {
  const paidRegularly = db
    .select({ id: recurringSubscriptions.id })
    .from(recurringSubscriptions)
    .where(eq(recurringSubscriptions.id, sql`substr(${accountEntitlements.source}, length('recurring/') + 1)`));
  for (let round = 1; round <= ROUNDS; round++) {
    const due = await db
      .select()
      .from(accountEntitlements)
      .where(
        and(
          eq(accountEntitlements.status, "cancelScheduled"),
          lte(accountEntitlements.dateEnds, now),
          hasStripe(env) ? notExists(paidRegularly) : undefined,
        ),
      )
      .orderBy(accountEntitlements.dateEnds)
      .limit(AT_ONCE);
    for (const row of due) {
      await asSystem({ env, db, now }, row.siteId, (ctx) => wonRace(() => changeEntitlement(ctx, row, "expire")));
    }
    if (due.length < AT_ONCE) return;
  }
}
