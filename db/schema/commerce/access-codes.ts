import { sql } from "drizzle-orm";
import { customType, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ACCESS_CODE_TYPES } from "#db/enums.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** Text that is compared case-insensitively. */
const caseInsensitive = customType<{ data: string }>({ dataType: () => "text collate nocase" });

/** Coupons. Redeeming one grants its SKU, or admission to the login gates that name it. */
export const accessCodes = sqliteTable(
  "access_codes",
  {
    id: id(),
    siteId: siteId(),
    accessCode: caseInsensitive("access_code").notNull(),
    sku: text("sku").notNull(),
    type: text("type", { enum: ACCESS_CODE_TYPES }).notNull(),
    /** The account that redeemed it, and when. */
    accountId: text("account_id"),
    consumedAt: time("consumed_at"),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("access_codes_site_code").on(table.siteId, table.accessCode),
    index("access_codes_site_created").on(table.siteId, table.created, table.id),
    index("access_codes_account")
      .on(table.accountId, table.sku)
      .where(sql`${table.accountId} is not null`),
  ],
);

/** Codes that a TV shows and a signed-in viewer enters; kept for an hour after they expire. */
export const tvCodes = sqliteTable(
  "tv_codes",
  {
    id: id(),
    siteId: siteId(),
    /** SHA-256 of site and code. */
    hash: text("hash").notNull().unique(),
    /** SHA-256 of site and device. */
    deviceHash: text("device_hash").notNull(),
    /** The account that activated it; the device then fetches the tokens, once. */
    accountId: text("account_id"),
    /** The version of the session that activated it: a newer password voids the code. */
    passwordVersion: integer("password_version"),
    polledAt: time("polled_at"),
    takenAt: time("taken_at"),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
  },
  (table) => [index("tv_codes_expires").on(table.expires)],
);

export type AccessCodeRow = typeof accessCodes.$inferSelect;

export type TvCodeRow = typeof tvCodes.$inferSelect;
