import { and, asc, eq, lt, lte } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { charges, recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { hasStripe } from "#worker/integrations/stripe-client.ts";
import { settleCharge } from "./charges.ts";
import { syncRecurring } from "./recurring.ts";
import { syncRefunds } from "./refunds.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { asSystem } from "#worker/services/core/system.ts";

const BATCH_SIZE = 50;
const MINUTE = 60_000;
// Unpaid charges are deleted after this time; all others are accounting records.
const DECLINED_RETENTION_DAYS = 90;

interface Reconciler extends Shard {
  now: number;
}

/** Syncs everything that is due with Stripe: unpaid pages, new payments, pending refunds and recurring subscriptions. Safe to repeat. */
export async function reconcileBilling(by: Reconciler): Promise<void> {
  if (!hasStripe(by.env)) return;
  const [openCharges, openRecurring] = await by.db.batch([
    by.db.select().from(charges).where(lte(charges.due, by.now)).orderBy(asc(charges.due)).limit(BATCH_SIZE),
    by.db
      .select()
      .from(recurringSubscriptions)
      .where(lte(recurringSubscriptions.due, by.now))
      .orderBy(asc(recurringSubscriptions.due))
      .limit(BATCH_SIZE),
  ]);
  const failures: unknown[] = [];
  for (const charge of await leaveOutCopies(by, openCharges)) {
    await asSystem(by, charge.siteId, (ctx) => (charge.status === "pending" ? settleCharge(ctx, charge) : syncRefunds(ctx, charge))).catch(
      async (error: unknown) => {
        failures.push(error);
        // Move it behind the others, so that a permanent failure blocks nothing else.
        await by.db
          .update(charges)
          .set({ due: by.now + 5 * MINUTE })
          .where(and(eq(charges.id, charge.id), eq(charges.due, charge.due ?? 0)));
      },
    );
  }
  for (const recurring of await leaveOutCopies(by, openRecurring)) {
    await asSystem(by, recurring.siteId, (ctx) => syncRecurring(ctx, recurring)).catch(async (error: unknown) => {
      failures.push(error);
      await by.db
        .update(recurringSubscriptions)
        .set({ due: by.now + 5 * MINUTE })
        .where(and(eq(recurringSubscriptions.id, recurring.id), eq(recurringSubscriptions.due, recurring.due ?? 0)));
    });
  }
  if (failures.length > 0) throw new AggregateError(failures, "Some charges or subscriptions could not be synced with Stripe");
}

/** Deletes charges whose payment page was never paid. */
export async function pruneCharges({ db, now }: { db: Db; now: number }): Promise<void> {
  await db
    .delete(charges)
    .where(and(eq(charges.status, "declined"), lt(charges.modified, now - DECLINED_RETENTION_DAYS * 24 * 60 * MINUTE)));
}
