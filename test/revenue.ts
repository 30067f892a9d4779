import { createDb } from "#db/client.ts";
import { type ChargeRow, charges } from "#db/schema/commerce/billing.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import type { TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

/** Stores a charge as it is after the payment, without Stripe. */
export async function bought(site: TestSite, fields: Partial<ChargeRow> & { created: number }): Promise<string> {
  const id = newId(Date.now());
  const { refunded = 0, created } = fields;
  await createDb(siteStore)
    .insert(charges)
    .values({
      id,
      siteId: site.id,
      accountId: newId(Date.now()),
      amount: 1900,
      currency: "gbp",
      itemType: "subscription",
      itemId: newId(Date.now()),
      description: "Cup pass",
      skus: [`pass-${randomHex(4)}`],
      status: "complete",
      reserved: refunded,
      modified: created,
      ...fields,
    });
  return id;
}
