import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, passwordResets, userProfiles } from "../../db/schema/index.ts";
import type { AccountRole } from "../../db/types.ts";
import { hashPassword, sha256 } from "../lib/crypto.ts";
import { Failure, forbidden, invalid, notFound, refuseDuplicate } from "../lib/errors.ts";
import { type Action, isSiteAdmin } from "../lib/roles.ts";
import { type AccountRow, type CreateAccount, toAccount, type UpdateAccount, type UpsertAccount } from "../routes/accounts/schemas.ts";
import { accountColumns } from "./account-columns.ts";
import { refuseTakenLink, writeLinks } from "./account-links.ts";
import { tellEndedClaims } from "./claims.ts";
import { asRead, commit, commitIfCurrent, type Ctx, type NewEvent, newRow, nextVersion, ownRow, requireMatch } from "./context.ts";
import { erasePerson } from "./erasure.ts";
import { linkGlobalAccounts } from "./global-accounts.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "./listing.ts";
import { newPassword } from "./passwords.ts";
import { leavesAnAdmin, readForRoles, requireGrantable, requireRoleKey } from "./roles.ts";

export const accountList: ListSpec<AccountRow> = {
  table: accounts,
  id: { by: accounts.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select(accountColumns).from(accounts).$dynamic(), slice),
  sort: {
    created: { by: accounts.created, of: (row) => row.created },
    name: { by: accounts.normalizedName, of: (row) => row.normalizedName },
    email: { by: accounts.email, of: (row) => row.email },
  },
  defaultDirection: -1,
  search: { name: accounts.normalizedName, email: accounts.email },
};

export function listAccounts(ctx: Ctx, query: ListQuery & { email?: string }): Promise<ListPage<AccountRow>> {
  const email = query.email === undefined ? undefined : eq(accounts.email, normalizeEmail(query.email));
  return listRows(ctx, accountList, normalizeSearch(query), eq(accounts.siteId, ctx.siteId), email);
}

/** A search as names and e-mails are kept. */
export function normalizeSearch<T extends ListQuery>(query: T): T {
  return query.search === undefined ? query : { ...query, search: normalizeName(query.search) };
}

/** One account: for a key or admin any of the site, for everyone else their own. */
export async function getAccount(ctx: Ctx, id: string): Promise<AccountRow> {
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  await requireSelfOrAdmin(ctx, id, "read", "Only admins read other accounts");
  return account;
}

/** A viewer signs up. */
export async function createAccount(ctx: Ctx, input: CreateAccount): Promise<AccountRow> {
  await ctx.caller();
  refuseStandIn(input.email);
  const account = await newAccount(ctx, input, []);
  await refuseTakenEmail(() => commit(ctx, insertAccount(ctx, account), accountEvent("new_account", account)));
  return account;
}

/** Makes the account of this e-mail, or changes what is given of it; a new password ends its sessions. */
export async function upsertAccount(ctx: Ctx, input: UpsertAccount): Promise<AccountRow> {
  // Whether roles make a global account is known to the database alone.
  return getAccount(ctx, await putAccount(ctx, input));
}

async function putAccount(ctx: Ctx, input: UpsertAccount, isRepeated = false): Promise<string> {
  const email = normalizeEmail(input.email);
  const which = and(eq(accounts.siteId, ctx.siteId), eq(accounts.email, email));
  const { account: current, rules } = await readForRoles(ctx, which, input.roles ?? []);
  const roles = input.roles ?? current?.roles ?? [];
  if (input.roles) await requireGrantable(ctx, rules, current, roles);
  if (current) return changeAccount(ctx, current, input, roles);
  // No version of what isn't there is the one that If-Match names.
  requireMatch(ctx, { version: -1 });
  try {
    return await addAccount(ctx, input, roles);
  } catch (error) {
    // Somebody else made it meanwhile: then it is there to be changed.
    if (isRepeated || !(error instanceof Failure && error.code === "conflict")) throw error;
    return putAccount(ctx, input, true);
  }
}

async function addAccount(ctx: Ctx, input: UpsertAccount, roles: AccountRole[]): Promise<string> {
  refuseStandIn(input.email);
  const { thirdPartyAuthProviders = [], ...person } = input;
  const account = { ...(await newAccount(ctx, { ...person, marketingOptin: false }, roles)), thirdPartyAuthProviders };
  await refuseTakenEmail(() => commit(ctx, insertAccount(ctx, account), accountEvent("new_account", account)));
  return account.id;
}

async function changeAccount(ctx: Ctx, current: AccountRow, input: UpsertAccount, roles: AccountRole[]): Promise<string> {
  const { name, thirdPartyAuthProviders = current.thirdPartyAuthProviders, password } = input;
  if (current.roles.length > 0 && (password !== undefined || input.thirdPartyAuthProviders !== undefined)) await requireRoleKey(ctx);
  const secret = password === undefined ? {} : await newPassword(password, current);
  const next = { ...current, ...naming(name), thirdPartyAuthProviders, roles, ...secret, ...nextVersion(ctx, current) };
  await writeAccount(ctx, current, next);
  return current.id;
}

/** Changes an account: a key or admin any of the site, everyone else their own name and consent. */
export async function updateAccount(ctx: Ctx, id: string, input: UpdateAccount): Promise<AccountRow> {
  const current = await getAccount(ctx, id);
  const { name, marketingOptin, thirdPartyAuthProviders = current.thirdPartyAuthProviders } = input;
  const email = input.email === undefined ? current.email : normalizeEmail(input.email);
  await requireSelfOrAdmin(ctx, id, "write", "Only admins change other accounts");
  const identifies = email !== current.email || input.thirdPartyAuthProviders !== undefined;
  if (identifies) await requireAdmin(ctx, "Only admins change by what an account signs in");
  if (identifies && current.roles.length > 0) await requireRoleKey(ctx);
  if (email !== current.email) refuseStandIn(email);
  const next: AccountRow = {
    ...current,
    ...naming(name),
    email,
    emailHash: await sha256(email),
    marketingOptin,
    thirdPartyAuthProviders,
    ...nextVersion(ctx, current),
  };
  await writeAccount(ctx, current, next);
  return email === current.email ? next : getAccount(ctx, id);
}

/** Replaces an account's row with all that hangs on it. */
async function writeAccount(ctx: Ctx, current: AccountRow, next: AccountRow): Promise<void> {
  const changes = [
    ctx.db
      .update(accounts)
      .set(next)
      .where(and(asRead(ctx, accounts, current), leavesAnAdmin(ctx, current, next.roles))),
    ctx.db
      .update(userProfiles)
      .set({ name: next.name, modified: ctx.now, version: sql`${userProfiles.version} + 1` })
      .where(and(eq(userProfiles.siteId, ctx.siteId), eq(userProfiles.accountId, current.id))),
    ...writeLinks(ctx, current.id, next.thirdPartyAuthProviders),
    ...(next.email === current.email ? [] : [ctx.db.delete(passwordResets).where(eq(passwordResets.accountId, current.id))]),
    ...linkGlobalAccounts(ctx, next, current),
  ];
  await refuseTakenEmail(() => commitIfCurrent(ctx, changes, accountEvent("account.updated", next)));
}

/** Deletes a person's account and all that is kept of them; the last admin of a site stays. */
export async function deleteAccount(ctx: Ctx, id: string): Promise<AccountRow> {
  const { account, rules } = await readForRoles(ctx, ownRow(ctx, accounts, id), []);
  if (!account) throw notFound("Account not found");
  await requireSelfOrAdmin(ctx, id, "write", "Only admins delete other accounts");
  requireMatch(ctx, account);
  await requireGrantable(ctx, rules, account, []);
  const change = ctx.db.delete(accounts).where(and(asRead(ctx, accounts, account), leavesAnAdmin(ctx, account)));
  const claimsEnd = tellEndedClaims(ctx, await ctx.caller(), id);
  const changes = [change, claimsEnd, ...erasePerson(ctx, id), ...linkGlobalAccounts(ctx, account)];
  await commitIfCurrent(ctx, changes, {
    type: "account.deleted",
    resource: `account/${id}`,
    data: { _id: id, siteId: ctx.siteId },
  });
  return account;
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
    ...linkGlobalAccounts(ctx, account),
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

function naming(name: string): { name: string; normalizedName: string } {
  return { name, normalizedName: normalizeName(name) };
}

/** 403 unless this is the caller's own account, or the caller a key or an admin. */
async function requireSelfOrAdmin(ctx: Ctx, id: string, action: Action, message: string): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "account" && actor.id !== id && !isSiteAdmin(actor.roles, action)) throw forbidden(message);
}

async function requireAdmin(ctx: Ctx, message: string): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "account" && !isSiteAdmin(actor.roles, "write")) throw forbidden(message);
}

/** An address as it is compared: Unicode-normalised, trimmed, lower case. */
export function normalizeEmail(email: string): string {
  return email.normalize("NFKC").trim().toLowerCase();
}

const STAND_IN = "@no-mail.invalid";

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
