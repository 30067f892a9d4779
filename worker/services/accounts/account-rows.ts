import type { BatchItem } from "drizzle-orm/batch";
import type { AccountRole } from "#db/types.ts";
import { type AccountRow, accounts, userProfiles } from "#db/schema/index.ts";
import type { ListQuery } from "#worker/services/core/listing.ts";
import { type Ctx, type NewEvent, newRow } from "#worker/services/core/context.ts";
import { hashPassword, sha256 } from "#worker/lib/crypto/crypto.ts";
import { invalid, refuseDuplicate } from "#worker/lib/errors.ts";
import { type CreateAccount, toAccount } from "./schemas.ts";
import { refuseTakenLink, writeLinks } from "./links.ts";

/** A search as names and e-mails are kept. */
export function normalizeSearch<T extends ListQuery>(query: T): T {
  return query.search === undefined ? query : { ...query, search: normalizeName(query.search) };
}

/** The row of an account to be; hashing its password is the slow part. Without a password it signs in by other means alone. */
export async function newAccount(
  ctx: Ctx,
  input: Pick<CreateAccount, "email" | "name" | "marketingOptin"> & { password?: string },
  roles: AccountRole[],
): Promise<AccountRow> {
  const email = normalizeEmail(input.email);
  return {
    ...newRow(ctx),
    ...naming(input.name),
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
    lastLogin: null,
    subscriptions: [],
  };
}

/** The statements that make an account, with its profile and links. */
export function insertAccount(ctx: Ctx, account: AccountRow): [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]] {
  return [
    ctx.db.insert(accounts).values(account),
    ctx.db.insert(userProfiles).values({ ...newRow(ctx), accountId: account.id, name: account.name }),
    ...writeLinks(ctx, account.id, account.thirdPartyAuthProviders),
  ];
}

/** A 409 for an e-mail, or a sign-in elsewhere, that another account of the site has. */
export function refuseTakenEmail<T>(write: () => Promise<T>): Promise<T> {
  return refuseTakenLink(() => refuseDuplicate("accounts.site_id, accounts.email", "An account with this e-mail exists", write));
}

/** What the log says of an account. */
export function accountEvent(type: string, account: AccountRow): NewEvent {
  return { type, resource: `account/${account.id}`, data: toAccount(account) };
}

/** The columns of a name. */
export function naming(name: string): { name: string; normalizedName: string } {
  return { name, normalizedName: normalizeName(name) };
}

/** An address as it is compared: Unicode-normalised, trimmed, lower case. */
export function normalizeEmail(email: string): string {
  return email.normalize("NFKC").trim().toLowerCase();
}

export const STAND_IN = "@no-mail.invalid";

/** The address of an account that has none, by an id that nobody can know before. */
export function standInEmail(id: string): string {
  return `${id}${STAND_IN}`;
}

export function isStandIn(email: string): boolean {
  return normalizeEmail(email).endsWith(STAND_IN);
}

/** A 400 for an address that we give ourselves. */
export function refuseStandIn(email: string): void {
  if (isStandIn(email)) throw invalid("email", `Addresses ${STAND_IN} are those of accounts without one`);
}

/** A name as it is sorted and searched: lower case, without accents. */
export function normalizeName(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The columns of a new password; a rising version ends every session of the old one. */
export async function newPassword(
  password: string,
  current: { passwordVersion: number },
): Promise<{ passwordHash: string; passwordVersion: number }> {
  return { passwordHash: await hashPassword(password), passwordVersion: current.passwordVersion + 1 };
}
