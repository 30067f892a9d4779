import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, siteId, tracked } from "./columns.ts";
import type { AccountRole, ThirdPartyProvider } from "../types.ts";

/** A person on one site. `email` is normalised; `passwordVersion` rises with each new password and ends older sessions. */
export const accounts = sqliteTable(
  "accounts",
  {
    id: id(),
    siteId: siteId(),
    globalAccountId: text("global_account_id"),
    email: text("email").notNull(),
    name: text("name").notNull(),
    normalizedName: text("normalized_name").notNull(),
    passwordHash: text("password_hash"),
    passwordVersion: integer("password_version").notNull().default(1),
    emailHash: text("email_hash").notNull(),
    roles: text("roles", { mode: "json" }).$type<AccountRole[]>().notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    thirdPartyAuthProviders: text("third_party_auth_providers", { mode: "json" }).$type<ThirdPartyProvider[]>().notNull(),
    marketingOptin: integer("marketing_optin", { mode: "boolean" }).notNull(),
    lastLogin: integer("last_login"),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("accounts_site_email").on(table.siteId, table.email),
    index("accounts_site_created").on(table.siteId, table.created, table.id),
    index("accounts_global")
      .on(table.globalAccountId)
      .where(sql`${table.globalAccountId} is not null`),
  ],
);

export const userProfiles = sqliteTable(
  "user_profiles",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    name: text("name").notNull(),
    ...tracked(),
  },
  (table) => [uniqueIndex("user_profiles_account").on(table.siteId, table.accountId)],
);

/** A person with accounts on several sites; its password is that of all of them. */
export const globalAccounts = sqliteTable("global_accounts", {
  id: id(),
  email: text("email").notNull().unique(),
  passwordHash: text("password_hash").notNull(),
  passwordVersion: integer("password_version").notNull().default(1),
  ...tracked(),
});

/**
 * One sign-in. Its refresh tokens are numbered and signed, so none is stored: only that of `generation` works,
 * and an older one shown again ends the session.
 */
export const sessions = sqliteTable(
  "sessions",
  {
    id: id(),
    /** A site's id, or "global". */
    audience: text("audience").notNull(),
    accountId: text("account_id").notNull(),
    generation: integer("generation").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    revoked: integer("revoked"),
  },
  (table) => [index("sessions_account").on(table.accountId), index("sessions_expires").on(table.expires)],
);
