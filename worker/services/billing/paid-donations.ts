import { and, eq } from "drizzle-orm";
import type { ChargeRow } from "#db/schema/commerce/billing.ts";
import { type DonationRow, donations } from "#db/schema/commerce/donations.ts";
import { type Ctx, type NewEvent, ownRow } from "#worker/services/core/context.ts";
import type { Planned } from "#worker/services/subscriptions/entitlements.ts";
import { PaidDonation, toDonation } from "./donation-schemas.ts";

/** What the payment of a donation changes. It grants nothing; after the donor's account was deleted, only the charge remains. */
export async function planPaidDonation(ctx: Ctx, charge: ChargeRow): Promise<Planned> {
  const [row] = await ctx.db
    .select()
    .from(donations)
    .where(ownRow(ctx, donations, charge.id));
  if (!row) return { changes: [], events: [] };
  const paid: DonationRow = { ...row, amount: charge.amount, currency: charge.currency, paid: ctx.now };
  const data = PaidDonation.parse(toDonation(paid));
  const event: NewEvent<"donation.paid"> = { type: "donation.paid", resource: `charge/${charge.id}`, data };
  return {
    changes: [
      ctx.db
        .update(donations)
        .set({ amount: paid.amount, currency: paid.currency, paid: paid.paid })
        .where(ownRow(ctx, donations, charge.id)),
    ],
    events: [event],
  };
}

/** Deletes what an account has entered with its donations; the charges stay. */
export function deleteDonations(ctx: Ctx, accountId: string) {
  return ctx.db.delete(donations).where(and(eq(donations.siteId, ctx.siteId), eq(donations.accountId, accountId)));
}
