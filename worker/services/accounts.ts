import { eq } from "drizzle-orm";
import { accounts, userProfiles } from "../../db/schema/index.ts";
import type { AccountRole } from "../../db/types.ts";
import { hashPassword, sha256 } from "../lib/crypto.ts";
import { forbidden, notFound, refuseDuplicate } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { isSiteAdmin } from "../lib/roles.ts";
import { type AccountRow, type CreateAccount, toAccount } from "../routes/accounts/schemas.ts";
import { commit, type Ctx, newRow, ownRow } from "./context.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "./listing.ts";

const accountList: ListSpec<AccountRow> = {
  table: accounts,
  id: { by: accounts.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(accounts).$dynamic(), slice),
  sort: {
    created: { by: accounts.created, of: (row) => row.created },
    name: { by: accounts.normalizedName, of: (row) => row.normalizedName },
    email: { by: accounts.email, of: (row) => row.email },
  },
  defaultDirection: -1,
  search: { name: accounts.name, email: accounts.email },
};

export function listAccounts(ctx: Ctx, query: ListQuery & { email?: string }): Promise<ListPage<AccountRow>> {
  const email = query.email === undefined ? undefined : eq(accounts.email, normalizeEmail(query.email));
  return listRows(ctx, accountList, query, eq(accounts.siteId, ctx.siteId), email);
}

/** One account: for a key or admin any of the site, for everyone else their own. */
export async function getAccount(ctx: Ctx, id: string): Promise<AccountRow> {
  const [account] = await ctx.db
    .select()
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  const actor = await ctx.caller();
  if (actor.kind === "account" && actor.id !== id && !isSiteAdmin(actor.roles, "read")) throw forbidden("Only admins read other accounts");
  return account;
}

/** A viewer signs up. */
export async function createAccount(ctx: Ctx, input: CreateAccount): Promise<AccountRow> {
  await ctx.caller();
  const account = await newAccount(ctx, input, []);
  const rows = [ctx.db.insert(accounts).values(account), ctx.db.insert(userProfiles).values(profileOf(ctx, account))];
  await refuseDuplicate("accounts.site_id, accounts.email", "An account with this e-mail exists", () =>
    commit(ctx, rows, { type: "new_account", resource: `account/${account.id}`, data: toAccount(account) }),
  );
  return account;
}

/** The row of an account to be; hashing its password is the slow part. */
export async function newAccount(ctx: Ctx, input: CreateAccount, roles: AccountRole[]): Promise<AccountRow> {
  const email = normalizeEmail(input.email);
  return {
    ...newRow(ctx),
    globalAccountId: null,
    email,
    name: input.name,
    normalizedName: normalizeName(input.name),
    passwordHash: await hashPassword(input.password),
    passwordVersion: 1,
    emailHash: await sha256(email),
    roles,
    tags: [],
    thirdPartyAuthProviders: [],
    marketingOptin: input.marketingOptin,
    lastLogin: null,
  };
}

/** The profile that every account has. */
export function profileOf(ctx: Ctx, account: AccountRow): typeof userProfiles.$inferInsert {
  return { ...newRow(ctx), id: newId(ctx.now), siteId: account.siteId, accountId: account.id, name: account.name };
}

/** An address as it is compared: Unicode-normalised, trimmed, lower case. */
export function normalizeEmail(email: string): string {
  return email.normalize("NFKC").trim().toLowerCase();
}

/** A name as it is sorted and searched: lower case, without accents. */
export function normalizeName(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
