import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, siteId, tracked } from "./columns.ts";
import { EMAIL_PROOF_PURPOSES, INTENT_KINDS, SIGN_IN_FAILURES } from "#db/enums.ts";
import type { AccountRole, ThirdPartyProvider } from "#db/types.ts";

/** A person on one site. `email` is normalised. Each new password increments `passwordVersion`, which ends older sessions. */
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
    /** When the address was verified; null if it isn't. */
    emailVerified: integer("email_verified"),
    /** Whether the credentials are known to belong to the owner of the address; see services/accounts/credentials.ts. */
    trusted: integer("trusted", { mode: "boolean" }).notNull().default(false),
    marketingOptin: integer("marketing_optin", { mode: "boolean" }).notNull(),
    /** Whether leaderboards show its points without its name. */
    leaderboardHidden: integer("leaderboard_hidden", { mode: "boolean" }).notNull().default(false),
    lastLogin: integer("last_login"),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("accounts_site_email").on(table.siteId, table.email),
    index("accounts_email").on(table.email),
    index("accounts_site_created").on(table.siteId, table.created, table.id),
    index("accounts_site_name").on(table.siteId, table.normalizedName, table.id),
    index("accounts_staff")
      .on(table.siteId)
      .where(sql`${table.roles} <> '[]'`),
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

/** A person who administers several sites and opted in to a single sign-in. It has its own password. */
export const globalAccounts = sqliteTable("global_accounts", {
  id: id(),
  email: text("email").notNull().unique(),
  passwordHash: text("password_hash").notNull(),
  passwordVersion: integer("password_version").notNull().default(1),
  ...tracked(),
});

/**
 * One sign-in. Its refresh tokens are numbered and signed, so none is stored: only the one of `generation` is valid,
 * and reuse of an older one ends the session.
 */
export const sessions = sqliteTable(
  "sessions",
  {
    id: id(),
    /** A site's id, or "global". */
    audience: text("audience").notNull(),
    accountId: text("account_id").notNull(),
    /** The account's version at sign-in; a newer password ends the session. */
    passwordVersion: integer("password_version").notNull().default(1),
    generation: integer("generation").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    revoked: integer("revoked"),
  },
  (table) => [index("sessions_account").on(table.accountId), index("sessions_expires").on(table.expires)],
);

/**
 * Networks and devices from which an account has signed in, as keyed hashes. Wrong passwords from there have a separate budget, so
 * that a flood from elsewhere can't lock the owner out.
 */
export const signInPlaces = sqliteTable(
  "sign_in_places",
  {
    hash: text("hash").primaryKey(),
    /** A site's id, or "global". */
    audience: text("audience").notNull(),
    accountId: text("account_id").notNull(),
    seen: integer("seen").notNull(),
  },
  (table) => [index("sign_in_places_account").on(table.accountId), index("sign_in_places_seen").on(table.seen)],
);

/** Failed sign-ins to an account from one network within one minute, until they are published as an event. */
export const signInFailures = sqliteTable(
  "sign_in_failures",
  {
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    address: text("address").notNull(),
    reason: text("reason", { enum: SIGN_IN_FAILURES }).notNull(),
    /** Minutes since 1970 UTC. */
    minute: integer("minute").notNull(),
    attempts: integer("attempts").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.accountId, table.address, table.reason, table.minute] }),
    index("sign_in_failures_minute").on(table.minute),
  ],
);

/** The sealed secret of an account's authenticator app; it takes effect once a code has confirmed it. */
export const totpSecrets = sqliteTable("totp_secrets", {
  accountId: text("account_id").primaryKey(),
  siteId: siteId(),
  secretSealed: text("secret_sealed").notNull(),
  confirmed: integer("confirmed"),
  /** The time step of the last accepted code; this one and older ones aren't accepted again. */
  lastStep: integer("last_step").notNull(),
  created: integer("created").notNull(),
});

/** Single-use codes that replace one of the authenticator app. Only hashes are stored, until the codes are used. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  { accountId: text("account_id").notNull(), siteId: siteId(), hash: text("hash").notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
);

/** Which account a sign-in at another provider belongs to: a unique index over `thirdPartyAuthProviders`. */
export const accountLinks = sqliteTable(
  "account_links",
  {
    siteId: siteId(),
    provider: text("provider").notNull(),
    thirdPartyAccountId: text("third_party_account_id").notNull(),
    accountId: text("account_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.provider, table.thirdPartyAccountId] }),
    index("account_links_account").on(table.accountId),
  ],
);

/** A request for a new password. Its token is our signature over the id, so none is stored. */
export const passwordResets = sqliteTable(
  "password_resets",
  {
    id: id(),
    /** The site that requested it and sends the email. */
    siteId: siteId(),
    /** Whose password: a site's id, or "global". */
    audience: text("audience").notNull(),
    accountId: text("account_id").notNull(),
    /** The account's version at the request: a newer password voids the token. */
    passwordVersion: integer("password_version").notNull(),
    /** The page that the emailed link opens; empty: the site's first allowed origin. */
    baseUrl: text("base_url").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    used: integer("used"),
  },
  (table) => [index("password_resets_account").on(table.accountId, table.created), index("password_resets_expires").on(table.expires)],
);

/** An email that asks its recipient to verify the address. Its token is our signature over the id, so none is stored. */
export const emailProofs = sqliteTable(
  "email_proofs",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    purpose: text("purpose", { enum: EMAIL_PROOF_PURPOSES }).notNull(),
    /** SHA-256 of the recipient's address: a new address voids the token. */
    emailHash: text("email_hash").notNull(),
    /** The page that the emailed link opens; empty: the site's first allowed origin. */
    baseUrl: text("base_url").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    used: integer("used"),
  },
  (table) => [index("email_proofs_account").on(table.accountId, table.created), index("email_proofs_expires").on(table.expires)],
);

/** A sign-in that a partner or an invite has authorised, redeemable once. Only the SHA-256 of its token is stored. */
export const intents = sqliteTable(
  "intents",
  {
    id: id(),
    siteId: siteId(),
    hash: text("hash").notNull().unique(),
    kind: text("kind", { enum: INTENT_KINDS }).notNull(),
    /** The account to sign in; null if redemption creates it. */
    accountId: text("account_id"),
    /** What it was created from, such as an invite, and is voided with. */
    sourceId: text("source_id"),
    data: text("data", { mode: "json" }).$type<Record<string, unknown>>().notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    consumed: integer("consumed"),
  },
  (table) => [
    index("intents_account").on(table.accountId),
    index("intents_source").on(table.siteId, table.sourceId),
    index("intents_expires").on(table.expires),
  ],
);

export type ProofRow = typeof emailProofs.$inferSelect;

export type GlobalAccountRow = typeof globalAccounts.$inferSelect;

/** With the SKUs that it holds. */
export type AccountRow = typeof accounts.$inferSelect & { subscriptions: string[] };

export type SessionRow = typeof sessions.$inferSelect;

export type IntentRow = typeof intents.$inferSelect;

export type FailureRow = typeof signInFailures.$inferSelect;

export type UserProfileRow = typeof userProfiles.$inferSelect;
