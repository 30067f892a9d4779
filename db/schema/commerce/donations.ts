import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id, siteId, time } from "#db/schema/columns.ts";

/** What a donor has entered for a donation, by the id of its charge, which has the money. Deleted with the donor's account. */
export const donations = sqliteTable(
  "donations",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    panelId: text("panel_id").notNull(),
    /** The channel on which the thanks are shown; null: on none. */
    channelId: text("channel_id"),
    /** Null for an anonymous donor. */
    name: text("name"),
    message: text("message"),
    amount: integer("amount").notNull(),
    currency: text("currency").notNull(),
    created: time("created").notNull(),
    /** When it was paid; 0 until then. */
    paid: integer("paid").notNull().default(0),
  },
  (table) => [index("donations_account").on(table.siteId, table.accountId), index("donations_paid").on(table.siteId, table.paid, table.id)],
);

export type DonationRow = typeof donations.$inferSelect;
