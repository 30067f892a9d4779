import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { accounts } from "#db/schema/accounts.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { formatMoney } from "#worker/lib/money.ts";
import { idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { sendMail } from "#worker/services/custom-email/mail.ts";

/** Mails the receipt of a paid charge, unless its amount is 0; an effect of `billing.chargeCompleted`. */
export async function mailReceipt(env: Env, siteId: string, event: LoggedEvent<"billing.chargeCompleted">): Promise<void> {
  const [row] = await siteDb(env, siteId)
    .select({
      receiptNumber: charges.receiptNumber,
      description: charges.description,
      amount: charges.amount,
      currency: charges.currency,
      created: charges.created,
      sessionId: charges.stripeSessionId,
      name: accounts.name,
      email: accounts.email,
    })
    .from(charges)
    .innerJoin(accounts, and(eq(accounts.id, charges.accountId), eq(accounts.siteId, charges.siteId)))
    .where(and(eq(charges.id, idOf(event)), eq(charges.siteId, siteId)));
  if (!row || row.amount === 0) return;
  const amount = formatMoney(row.amount, row.currency);
  // The charge of a period is created when it is paid; that of a page earlier, and this event is the payment.
  const paid = row.sessionId === null ? row.created : event.created;
  await sendMail(
    env,
    siteId,
    {
      template: "receipt",
      to: row.email,
      data: {
        receiptNumber: row.receiptNumber ?? "",
        date: new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(paid),
        customer: { name: row.name, email: row.email },
        items: [{ description: row.description, amount }],
        total: amount,
      },
    },
    event.id,
  );
}
