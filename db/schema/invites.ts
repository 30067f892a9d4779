import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { AccountRole } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** Magic links. The token can be shown again, so it is sealed; `tokenHash`, a keyed hash, is for lookups. */
export const invites = sqliteTable(
  "invites",
  {
    id: id(),
    siteId: siteId(),
    tokenSealed: text("token_sealed").notNull(),
    tokenHash: text("token_hash").notNull().unique(),
    redirectUri: text("redirect_uri").notNull(),
    targetSkus: text("target_skus", { mode: "json" }).$type<string[]>().notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    expires: integer("expires").notNull(),
    /** When the link was first opened. */
    consumedAt: time("consumed_at"),
    revokedAt: time("revoked_at"),
    /** The account that its intent signed in. */
    accountId: text("account_id"),
    ...tracked(),
  },
  (table) => [index("invites_site_created").on(table.siteId, table.created, table.id)],
);

/** Invitations by email to an account with roles. The emailed token is signed, so none is stored. */
export const registerInvites = sqliteTable(
  "register_invites",
  {
    id: id(),
    siteId: siteId(),
    email: text("email").notNull(),
    senderAccountId: text("sender_account_id").notNull(),
    targetRoles: text("target_roles", { mode: "json" }).$type<AccountRole[]>().notNull(),
    /** The page that the emailed link opens, without the token. */
    redirectUri: text("redirect_uri").notNull(),
    expires: integer("expires").notNull(),
    sent: integer("sent", { mode: "boolean" }).notNull(),
    /** Whether the sender created it, who must still administer the site when it is accepted. Otherwise a key did in their name. */
    bySender: integer("by_sender", { mode: "boolean" }).notNull(),
    revokedAt: time("revoked_at"),
    /** The account that accepted it. */
    accountId: text("account_id"),
    ...tracked(),
  },
  (table) => [index("register_invites_site_email").on(table.siteId, table.email)],
);

export type InviteRow = typeof invites.$inferSelect;

export type RegisterInviteRow = typeof registerInvites.$inferSelect;
