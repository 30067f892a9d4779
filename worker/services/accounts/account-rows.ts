import { type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { AccountRole } from "#db/types.ts";
import { type AccountRow, accounts, userProfiles } from "#db/schema/accounts.ts";
import { folded } from "#db/search-text.ts";
import { type Ctx, type NewEvent, newRow } from "#worker/services/core/context.ts";
import { hashPassword, sha256 } from "#worker/lib/crypto/crypto.ts";
import { invalid, rejectDuplicate } from "#worker/lib/errors.ts";
import { foldText } from "#worker/lib/fold-text.ts";
import { toAccount } from "./schemas.ts";
import { rejectTakenLink, writeLinks } from "./links.ts";

/** What searches for an account look in, folded; the name is stored so. */
export const ACCOUNT_TEXTS = [sql`${accounts.normalizedName}`, folded(accounts.email)];

/** Builds the row of a new account. Without a password, the account can't sign in with one until it is reset. */
export async function newAccount(
  ctx: Ctx,
  input: Pick<AccountRow, "email" | "name" | "marketingOptin"> & { password?: string },
  roles: AccountRole[],
): Promise<AccountRow> {
  const email = normalizeEmail(input.email);
  return {
    ...newRow(ctx),
    ...nameColumns(input.name),
    globalAccountId: null,
    email,
    passwordHash: input.password === undefined ? null : await hashPassword(input.password),
    passwordVersion: 1,
    emailHash: await sha256(email),
    roles,
    tags: [],
    thirdPartyAuthProviders: [],
    emailVerified: null,
    trusted: false,
    marketingOptin: input.marketingOptin,
    leaderboardHidden: false,
    lastLogin: null,
    subscriptions: [],
  };
}

/** The statements that insert an account, its profile and its third-party links. `consent`: instead of the account's own, to check it. */
export function insertAccount(ctx: Ctx, account: AccountRow, consent?: SQL<boolean>): [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]] {
  return [
    ctx.db.insert(accounts).values({ ...account, marketingOptin: consent ?? account.marketingOptin }),
    ctx.db.insert(userProfiles).values({ ...newRow(ctx), accountId: account.id, name: account.name }),
    ...writeLinks(ctx, account.id, account.thirdPartyAuthProviders),
  ];
}

/** A 409 if another account of the site has the email address or a third-party link. */
export function rejectTakenEmail<T>(write: () => Promise<T>): Promise<T> {
  return rejectTakenLink(() =>
    rejectDuplicate("accounts.site_id, accounts.email", "An account with this email address already exists", write),
  );
}

/** An event that carries the account. */
export function accountEvent(type: "new_account" | "account.updated" | "account.tagsUpdated", account: AccountRow): NewEvent {
  return { type, resource: `account/${account.id}`, data: toAccount(account) };
}

export function nameColumns(name: string): { name: string; normalizedName: string } {
  return { name, normalizedName: normalizeName(name) };
}

/** The stored form of an address: Unicode-normalized, trimmed, lower case. */
export function normalizeEmail(email: string): string {
  return email.normalize("NFKC").trim().toLowerCase();
}

export const PLACEHOLDER_DOMAIN = "@no-mail.invalid";

/** A placeholder address for an account without one, from an unpredictable id. */
export function placeholderEmail(id: string): string {
  return `${id}${PLACEHOLDER_DOMAIN}`;
}

export function isPlaceholderEmail(email: string): boolean {
  return normalizeEmail(email).endsWith(PLACEHOLDER_DOMAIN);
}

/** A 400 for a placeholder address, which only we assign. */
export function rejectPlaceholderEmail(email: string): void {
  if (isPlaceholderEmail(email)) throw invalid("email", `${PLACEHOLDER_DOMAIN} is reserved for accounts without an email address`);
}

/** The form of a name for sorting and searching: lower case, without accents. */
export function normalizeName(name: string): string {
  return foldText(name);
}

/** The columns of a new password; the higher version ends every existing session. */
export async function newPassword(
  password: string,
  current: { passwordVersion: number },
): Promise<{ passwordHash: string; passwordVersion: number }> {
  return { passwordHash: await hashPassword(password), passwordVersion: current.passwordVersion + 1 };
}
