import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, siteId, tracked } from "./columns.ts";
import { EMAIL_PROOF_PURPOSES, INTENT_KINDS, SIGN_IN_FAILURES } from "#db/enums.ts";
import type { AccountRole, ThirdPartyProvider } from "#db/types.ts";

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
    /** When the person proved that the address is theirs; null: not yet. */
    emailVerified: integer("email_verified"),
    /** Whether the credentials are known to be those of the person who has the address; see services/accounts/credentials.ts. */
    trusted: integer("trusted", { mode: "boolean" }).notNull().default(false),
    marketingOptin: integer("marketing_optin", { mode: "boolean" }).notNull(),
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

/** A person who administers several sites, and asked for one sign-in to all of them. It has a password of its own. */
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
    /** That of the account when it signed in; a newer password ends the session. */
    passwordVersion: integer("password_version").notNull().default(1),
    generation: integer("generation").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    revoked: integer("revoked"),
  },
  (table) => [index("sessions_account").on(table.accountId), index("sessions_expires").on(table.expires)],
);

/**
 * Networks and devices from which an account has signed in, as keyed hashes: wrong passwords from there have a budget of their own, so
 * that a flood from elsewhere doesn't lock the owner out.
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

/** Failed sign-ins to an account from one network within one minute, until they become an event. */
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

/** The secret of an account's authenticator app, sealed; it counts once a code has confirmed it. */
export const totpSecrets = sqliteTable("totp_secrets", {
  accountId: text("account_id").primaryKey(),
  siteId: siteId(),
  secretSealed: text("secret_sealed").notNull(),
  confirmed: integer("confirmed"),
  /** The time step of the last code that was accepted: neither it nor an older one is accepted again. */
  lastStep: integer("last_step").notNull(),
  created: integer("created").notNull(),
});

/** Codes that each stand in once for one of the authenticator app; only their hashes are kept, until they are used. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  { accountId: text("account_id").notNull(), siteId: siteId(), hash: text("hash").notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
);

/** Whose sign-in at another provider belongs to which account: an index over `thirdPartyAuthProviders` that no two accounts can share. */
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

/** One request for a new password. Its token is our signature over the id, so none is stored. */
export const passwordResets = sqliteTable(
  "password_resets",
  {
    id: id(),
    /** The site that asked, and sends the mail. */
    siteId: siteId(),
    /** Whose password: a site's id, or "global". */
    audience: text("audience").notNull(),
    accountId: text("account_id").notNull(),
    /** That of the account when it asked: any newer password makes the token void. */
    passwordVersion: integer("password_version").notNull(),
    /** Where the mail's link leads; empty: the first of the site's allowed origins. */
    baseUrl: text("base_url").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    used: integer("used"),
  },
  (table) => [index("password_resets_account").on(table.accountId, table.created), index("password_resets_expires").on(table.expires)],
);

/** A mail that asks its reader to prove an address. Its token is our signature over the id, so none is stored. */
export const emailProofs = sqliteTable(
  "email_proofs",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    purpose: text("purpose", { enum: EMAIL_PROOF_PURPOSES }).notNull(),
    /** SHA-256 of the address that the mail goes to: another address makes the token void. */
    emailHash: text("email_hash").notNull(),
    /** Where the mail's link leads; empty: the first of the site's allowed origins. */
    baseUrl: text("base_url").notNull(),
    created: integer("created").notNull(),
    expires: integer("expires").notNull(),
    used: integer("used"),
  },
  (table) => [index("email_proofs_account").on(table.accountId, table.created), index("email_proofs_expires").on(table.expires)],
);

/** A sign-in that somebody else has vouched for, to be redeemed once; the token is kept as its SHA-256 only. */
export const intents = sqliteTable(
  "intents",
  {
    id: id(),
    siteId: siteId(),
    hash: text("hash").notNull().unique(),
    kind: text("kind", { enum: INTENT_KINDS }).notNull(),
    /** Who is signed in; null where the redemption makes the account. */
    accountId: text("account_id"),
    /** What it follows from, such as an invite: to be voided with it. */
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

/** With the skus that it holds. */
export type AccountRow = typeof accounts.$inferSelect & { subscriptions: string[] };

export type SessionRow = typeof sessions.$inferSelect;

export type IntentRow = typeof intents.$inferSelect;

export type FailureRow = typeof signInFailures.$inferSelect;

export type UserProfileRow = typeof userProfiles.$inferSelect;
