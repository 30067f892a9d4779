import { getTableColumns, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { accounts } from "#db/schema/accounts.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";

const Skus = z.array(z.string());

// Drizzle omits the table name of a selected column, which would then resolve to the inner table: hence the explicit names.
export const heldSkus = sql`(select json_group_array(held.sku order by held.sku) from ${accountEntitlements} held
  where held.site_id = ${accounts}.site_id and held.account_id = ${accounts}.id and held.status <> 'cancelled')`;

/** The columns of an account and the skus that it holds: `db.select(accountColumns).from(accounts)`. */
export const accountColumns = {
  ...getTableColumns(accounts),
  subscriptions: heldSkus.mapWith((skus: string) => Skus.parse(JSON.parse(skus))).as("subscriptions"),
};
