import { and, eq, lte, notExists, sql } from "drizzle-orm";
import { recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { hasStripe } from "#worker/integrations/stripe-client.ts";
import { wonRace } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { changeEntitlement } from "./entitlements.ts";
import { asSystem } from "#worker/services/core/system.ts";

const BATCH_SIZE = 100;
const ROUNDS = 10;

/**
 * Expires entitlements whose scheduled cancellation is due. Safe to run concurrently. Skips recurring ones: their cancellation may have been
 * withdrawn at Stripe, which `reconcileBilling` checks on that day.
 */
export async function expireEntitlements({ env, db, shard, now }: Shard & Pick<Ctx, "now">): Promise<void> {
  const recurring = db
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
          hasStripe(env) ? notExists(recurring) : undefined,
        ),
      )
      .orderBy(accountEntitlements.dateEnds)
      .limit(BATCH_SIZE);
    for (const row of await leaveOutCopies({ env, db, shard }, due)) {
      await asSystem({ env, db, now }, row.siteId, (ctx) => wonRace(() => changeEntitlement(ctx, row, "expire")));
    }
    if (due.length < BATCH_SIZE) return;
  }
}
