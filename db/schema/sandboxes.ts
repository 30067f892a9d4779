import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id, siteId } from "./columns.ts";

/** Sites that anybody may create and that expire. A row is deleted once its site is claimed, or once nothing of it is left. */
export const sandboxes = sqliteTable(
  "sandboxes",
  {
    siteId: siteId().primaryKey(),
    /** SHA-256 of the claim token. */
    claimHash: text("claim_hash").notNull().unique(),
    /** Expired: closed, which ends all access; then erasing, object by object. */
    state: text("state", { enum: ["active", "closed", "erasing"] }).notNull(),
    expires: integer("expires").notNull(),
    /** When to take the next step of the erasure. */
    due: integer("due").notNull(),
    /** The objects that have yet to be destroyed: their binding and name. */
    objects: text("objects", { mode: "json" }).$type<[binding: string, name: string][]>().notNull(),
    created: integer("created").notNull(),
  },
  (table) => [index("sandboxes_due").on(table.due)],
);

/** Email of sandboxes, which is shown instead of sent. */
export const sandboxMails = sqliteTable(
  "sandbox_mails",
  {
    id: id(),
    siteId: siteId(),
    recipient: text("recipient").notNull(),
    subject: text("subject").notNull(),
    text: text("text").notNull(),
    created: integer("created").notNull(),
  },
  (table) => [index("sandbox_mails_site").on(table.siteId, table.id)],
);

export type SandboxRow = typeof sandboxes.$inferSelect;
