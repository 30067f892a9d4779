import { and, eq, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { type AccountRow, accounts, passwordResets, userProfiles } from "#db/schema/accounts.ts";
import type { AccountRole } from "#db/types.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { Failure, forbidden, notFound } from "#worker/lib/errors.ts";
import { type Action, isSiteAdmin } from "#worker/lib/roles.ts";
import type { CreateAccount, UpdateAccount, UpsertAccount } from "./schemas.ts";
import { accountColumns } from "./columns.ts";
import { writeLinks } from "./links.ts";
import { insertEndedClaimEvents } from "#worker/services/claim-statuses/claims.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { erasePerson } from "./erasure.ts";
import { type CredentialChange, planCredentials } from "./credentials.ts";
import { deleteProofs, newProof } from "./email-proofs.ts";
import { deleteUnlinkedElsewhere, deleteUnlinkedGlobalAccount } from "./global-accounts.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { insertDeletedWalletEvent } from "#worker/services/wallets/wallets.ts";
import { checkConsent, consentOf } from "./default-consent.ts";
import { leavesAnAdmin, canGrantRoles, readForRoles, requireAllowedRoleChange, requireCanGrantRoles } from "./role-rules.ts";
import { requireAllowedUrl } from "#worker/services/sites/current-site.ts";
import { requireStaffPassword } from "./passwords.ts";
import {
  ACCOUNT_TEXTS,
  accountEvent,
  insertAccount,
  nameColumns,
  newAccount,
  normalizeEmail,
  rejectPlaceholderEmail,
  rejectTakenEmail,
} from "./account-rows.ts";

export const accountList = tableList<AccountRow>({
  table: accounts,
  rows: (db, slice) => sliceOf(db.select(accountColumns).from(accounts).$dynamic(), slice),
  sort: { created: accounts.created, name: accounts.normalizedName, email: accounts.email },
  search: { name: accounts.normalizedName, email: accounts.email },
  foldedTexts: ACCOUNT_TEXTS,
});

export function listAccounts(ctx: Ctx, query: ListQuery & { email?: string }): Promise<ListPage<AccountRow>> {
  const email = query.email === undefined ? undefined : eq(accounts.email, normalizeEmail(query.email));
  return listRows(ctx, accountList, query, eq(accounts.siteId, ctx.siteId), email);
}

/** Keys and admins read any account of the site, everyone else only their own. */
export async function getAccount(ctx: Ctx, id: string): Promise<AccountRow> {
  const [account] = await ctx.db
    .select(accountColumns)
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  await requireSelfOrAdmin(ctx, id, "read", "Only admins can read other accounts");
  return account;
}

/** Signs a viewer up and mails a link that verifies the address. */
export async function createAccount(ctx: Ctx, input: CreateAccount): Promise<AccountRow> {
  rejectPlaceholderEmail(input.email);
  if (input.baseUrl !== undefined) await requireAllowedUrl(ctx, "baseUrl", input.baseUrl);
  const { marketingOptin, guard } = await consentOf(ctx, input);
  const account = await newAccount(ctx, { ...input, marketingOptin }, []);
  const proof = newProof(ctx, account, "verify", input.baseUrl);
  const changes = [...insertAccount(ctx, account, guard), proof.insert];
  await rejectTakenEmail(() => checkConsent(ctx, () => commit(ctx, changes, accountEvent("new_account", account), proof.event)));
  return account;
}

/** Creates the account with this email address, or updates the given fields; a new password ends its sessions. */
export async function upsertAccount(ctx: Ctx, input: UpsertAccount, isRetry = false): Promise<AccountRow> {
  const email = normalizeEmail(input.email);
  const which = and(eq(accounts.siteId, ctx.siteId), eq(accounts.email, email));
  const { account: current, rules } = await readForRoles(ctx, which, input.roles ?? []);
  const roles = input.roles ?? current?.roles ?? [];
  if (input.roles) await requireAllowedRoleChange(ctx, rules, current, roles);
  if (current) return changeAccount(ctx, current, input, roles);
  // An account that doesn't exist matches no If-Match.
  requireMatch(ctx, { version: -1 });
  try {
    return await addAccount(ctx, input, roles);
  } catch (error) {
    // Another request created it in the meantime: update it instead.
    if (isRetry || !(error instanceof Failure && error.code === "conflict")) throw error;
    return upsertAccount(ctx, input, true);
  }
}

async function addAccount(ctx: Ctx, input: UpsertAccount, roles: AccountRole[]): Promise<AccountRow> {
  rejectPlaceholderEmail(input.email);
  const { thirdPartyAuthProviders = [], ...person } = input;
  if (person.password !== undefined) requireStaffPassword({ roles }, person.password);
  const row = await newAccount(ctx, { ...person, marketingOptin: false }, roles);
  const hasNoCredentials = person.password === undefined && thirdPartyAuthProviders.length === 0;
  const account = { ...row, thirdPartyAuthProviders, trusted: hasNoCredentials || (await canGrantRoles(ctx)) };
  await rejectTakenEmail(() => commit(ctx, insertAccount(ctx, account), accountEvent("new_account", account)));
  return account;
}

async function changeAccount(ctx: Ctx, current: AccountRow, input: UpsertAccount, roles: AccountRole[]): Promise<AccountRow> {
  const { name, thirdPartyAuthProviders: links, password } = input;
  if (current.roles.length > 0 && (password !== undefined || links !== undefined)) await requireCanGrantRoles(ctx);
  if (password !== undefined) requireStaffPassword({ roles }, password);
  const credentials = await planCredentials(ctx, current, { roles, password, links });
  const next: AccountRow = { ...current, ...nameColumns(name), roles, ...credentials.columns, ...nextVersion(ctx, current) };
  await writeAccount(ctx, current, next, credentials);
  return next;
}

/** Keys and admins update any account of the site, everyone else only their own name, consent and whether leaderboards name them. */
export async function updateAccount(ctx: Ctx, id: string, input: UpdateAccount): Promise<AccountRow> {
  const current = await getAccount(ctx, id);
  const { name, marketingOptin, leaderboardHidden = current.leaderboardHidden } = input;
  const { thirdPartyAuthProviders = current.thirdPartyAuthProviders } = input;
  const email = input.email === undefined ? current.email : normalizeEmail(input.email);
  await requireSelfOrAdmin(ctx, id, "write", "Only admins can update other accounts");
  const changesSignIn = email !== current.email || input.thirdPartyAuthProviders !== undefined;
  if (changesSignIn) await requireAdmin(ctx, "Only admins can change how an account signs in");
  if (changesSignIn && current.roles.length > 0) await requireCanGrantRoles(ctx);
  if (email !== current.email) rejectPlaceholderEmail(email);
  const linksAreUntrusted = input.thirdPartyAuthProviders !== undefined && !(await canGrantRoles(ctx));
  const next: AccountRow = {
    ...current,
    ...nameColumns(name),
    ...(email === current.email ? {} : await newEmailColumns(current, email)),
    ...(linksAreUntrusted ? { trusted: false } : {}),
    marketingOptin,
    leaderboardHidden,
    thirdPartyAuthProviders,
    ...nextVersion(ctx, current),
  };
  await writeAccount(ctx, current, next);
  return next;
}

/** The columns of a new, unverified address; what depended on the old one ends. */
async function newEmailColumns(current: AccountRow, email: string) {
  const hasNoCredentials = current.passwordHash === null && current.thirdPartyAuthProviders.length === 0;
  return { email, emailHash: await sha256(email), emailVerified: null, trusted: hasNoCredentials, globalAccountId: null };
}

async function writeAccount(ctx: Ctx, current: AccountRow, next: AccountRow, credentials?: CredentialChange): Promise<void> {
  const [first, ...rest] = replaceAccount(ctx, current, next);
  const changes = [first, ...rest, ...(credentials?.changes ?? [])];
  const events = credentials?.events ?? [];
  await rejectTakenEmail(() => commitIfUnchanged(ctx, changes, accountEvent("account.updated", next), ...events));
}

/** The statements that replace an account's row and what depends on it; the first affects no row if the account has changed since. */
export function replaceAccount(ctx: Ctx, current: AccountRow, next: AccountRow): [BatchItem<"sqlite">, ...BatchItem<"sqlite">[]] {
  const changesEmail = next.email !== current.email;
  return [
    updateRow(ctx, accounts, current, next, leavesAnAdmin(ctx, current, next.roles)),
    ctx.db
      .update(userProfiles)
      .set({ name: next.name, modified: ctx.now, version: sql`${userProfiles.version} + 1` })
      .where(and(eq(userProfiles.siteId, ctx.siteId), eq(userProfiles.accountId, current.id))),
    ...writeLinks(ctx, current.id, next.thirdPartyAuthProviders),
    ...(changesEmail ? [ctx.db.delete(passwordResets).where(eq(passwordResets.accountId, current.id)), deleteProofs(ctx, current.id)] : []),
  ];
}

/** Deletes an account and all personal data; the last admin of a site can't be deleted. */
export async function deleteAccount(ctx: Ctx, id: string): Promise<AccountRow> {
  const { account, rules } = await readForRoles(ctx, ownRow(ctx, accounts, id), []);
  if (!account) throw notFound("Account not found");
  await requireSelfOrAdmin(ctx, id, "write", "Only admins can delete other accounts");
  requireMatch(ctx, account);
  await requireAllowedRoleChange(ctx, rules, account, []);
  const change = ctx.db.delete(accounts).where(and(whereVersion(ctx, accounts, account), leavesAnAdmin(ctx, account)));
  const actor = await ctx.caller();
  const ends = [insertEndedClaimEvents(ctx, actor, id), insertDeletedWalletEvent(ctx, actor, id)];
  const changes = [change, ...ends, ...erasePerson(ctx, id), ...deleteUnlinkedGlobalAccount(ctx, account)];
  await commitIfUnchanged(ctx, changes, {
    type: "account.deleted",
    resource: `account/${id}`,
    data: { _id: id, siteId: ctx.siteId },
  });
  await deleteUnlinkedElsewhere(ctx, account);
  return account;
}

/** A 403 unless this is the caller's own account or the caller is a key or an admin. */
async function requireSelfOrAdmin(ctx: Ctx, id: string, action: Action, message: string): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "account" && actor.id !== id && !isSiteAdmin(actor.roles, action)) throw forbidden(message);
}

async function requireAdmin(ctx: Ctx, message: string): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind === "account" && !isSiteAdmin(actor.roles, "write")) throw forbidden(message);
}
