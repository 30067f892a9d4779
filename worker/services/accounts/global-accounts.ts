import { and, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { z } from "@hono/zod-openapi";
import { isSharded, shardOf } from "#db/databases.ts";
import { type AccountRow, accounts, type GlobalAccountRow, globalAccounts, passwordResets, sessions } from "#db/schema/accounts.ts";
import { sites } from "#db/schema/sites.ts";
import { hashPassword } from "#worker/lib/crypto/crypto.ts";
import { conflict, emailNotVerified, forbidden, invalid, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import type { AskGlobalAccount, ConfirmGlobalAccount, GlobalSite } from "./schemas.ts";
import { batchAll, callerAccount, commitIfUnchanged, type Ctx, ownRow, type NewEvent } from "#worker/services/core/context.ts";
import { directoryOf, everyDb, fromEveryDb } from "#worker/services/core/databases.ts";
import { requestProof, findProof } from "./email-proofs.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { type ListPage, type ListQuery, listRowsOfAll, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { requireStaffPassword } from "./passwords.ts";
import { newPassword } from "./account-rows.ts";
import { administersSite, effectiveRoles } from "./role-rules.ts";
import { requirePassword } from "#worker/services/auth/sign-in-attempts.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";

/**
 * Requests a global account, or to link this site's account to the caller's existing one. It must be confirmed by email, because a sign-in
 * to one site proves nothing to others: the site's staff can set its password, and its partners can assert any address.
 */
export async function requestGlobalAccount(ctx: Ctx, { baseUrl }: AskGlobalAccount, address: string): Promise<void> {
  const { id } = await callerAccount(ctx);
  const [account] = await ctx.db
    .select({ emailVerified: accounts.emailVerified, globalAccountId: accounts.globalAccountId })
    .from(accounts)
    .where(ownRow(ctx, accounts, id));
  if (!account) throw notFound("Account not found");
  if (account.emailVerified === null) throw emailNotVerified();
  if (account.globalAccountId !== null) throw conflict(LINKED);
  await requestProof(ctx, "global", sql`person.id = ${id}`, baseUrl, address);
}

/**
 * Creates the global account for a mailed token, or links the site's account to the owner's existing one, which takes that one's
 * `password`. This is the only place that sets `globalAccountId`.
 */
export async function confirmGlobalAccount(ctx: Ctx, input: ConfirmGlobalAccount, address: string): Promise<GlobalAccountRow> {
  await ctx.caller();
  await takeSlot(ctx, "verifyEmail", address);
  const invalidToken = invalid("token", "The token is invalid, expired or already used");
  const found = await findProof(ctx, "global", input.token);
  if (!found || found.account.emailVerified === null || !(await administersNow(ctx, found.account.id))) throw invalidToken;
  const { account, use } = found;
  if (account.globalAccountId !== null) throw conflict(LINKED);
  const directory: Ctx = { ...ctx, db: directoryOf(ctx) };
  const existing = await findGlobal(directory, account.email);
  const { global, changes, condition } = existing
    ? { global: existing, ...(await planLink(directory, account, existing, input.password, address)) }
    : await planCreation(directory, account, input.password);
  const link = ctx.db
    .update(accounts)
    .set({ globalAccountId: global.id, modified: ctx.now, version: sql`${accounts.version} + 1` })
    .where(and(ownRow(ctx, accounts, account.id), eq(accounts.email, global.email), isNull(accounts.globalAccountId)));
  const data = { _id: account.id, siteId: ctx.siteId, globalAccountID: global.id };
  const event: NewEvent<"account.globalAccountLinked"> = { type: "account.globalAccountLinked", resource: `account/${account.id}`, data };
  await rejectDuplicate("global_accounts.email", "Another request created the global account; try again", async () => {
    if ((await shardOf(ctx.env, ctx.siteId)) === 1) return commitIfUnchanged(ctx, [use(condition), ...changes, link], event);
    // The global account is in another database, and comes first; if the link then fails, nothing is linked to a new one.
    await batchAll(directory.db, changes);
    try {
      return await commitIfUnchanged(ctx, [use(), link], event);
    } catch (error) {
      await deleteUnlinked(ctx, global.id);
      throw error;
    }
  });
  return global;
}

async function administersNow(ctx: Ctx, id: string): Promise<boolean> {
  const [admin] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(ownRow(ctx, accounts, id), administersSite("read", effectiveRoles)));
  return admin !== undefined;
}

const LINKED = "The account is already linked to a global account";

async function findGlobal(ctx: Ctx, email: string): Promise<GlobalAccountRow | undefined> {
  const [found] = await ctx.db.select().from(globalAccounts).where(eq(globalAccounts.email, email));
  return found;
}

interface LinkPlan {
  changes: BatchItem<"sqlite">[];
  /** The condition under which the changes are valid. */
  condition?: SQL;
}

async function planCreation(ctx: Ctx, account: AccountRow, password: string): Promise<LinkPlan & { global: GlobalAccountRow }> {
  requireStaffPassword(account, password);
  const stamps = { id: newId(ctx.now), created: ctx.now, modified: ctx.now, version: 1 };
  const global = { ...stamps, email: account.email, passwordHash: await hashPassword(password), passwordVersion: 1 };
  return { global, changes: [ctx.db.insert(globalAccounts).values(global)] };
}

/** Proves that a global account is the caller's: by its password, or by the email alone if no site is linked to it any more. */
async function planLink(
  directory: Ctx,
  account: AccountRow,
  global: GlobalAccountRow,
  password: string,
  address: string,
): Promise<LinkPlan> {
  const isSame = sql`exists (select 1 from ${globalAccounts} g where g.id = ${global.id} and g.password_version = ${global.passwordVersion})`;
  const isAlone = isUnlinked(global.id);
  if (!(await isLinked(directory, global.id))) {
    requireStaffPassword(account, password);
    const renewed = { ...(await newPassword(password, global)), modified: directory.now, version: global.version + 1 };
    const isUnchanged = and(eq(globalAccounts.id, global.id), eq(globalAccounts.passwordVersion, global.passwordVersion));
    return { changes: [directory.db.update(globalAccounts).set(renewed).where(isUnchanged)], condition: and(isSame, isAlone) };
  }
  const scope: Ctx = { ...directory, siteId: GLOBAL_AUDIENCE };
  const wrong = invalid("password", "You already have a global account; enter its password to link this site");
  await requirePassword(scope, global, password, address, wrong);
  return { changes: [], condition: isSame };
}

/** Deletes the caller's global account: ends its sessions and unlinks every site's account. */
export async function deleteGlobalAccount(ctx: Ctx): Promise<{ id: string }> {
  const actor = await ctx.caller();
  if (actor.kind !== "global") throw forbidden();
  const { id } = actor;
  const unlinked = { globalAccountId: null, modified: ctx.now, version: sql`${accounts.version} + 1` };
  const isTheirs = eq(accounts.globalAccountId, id);
  const isReset = and(eq(passwordResets.audience, GLOBAL_AUDIENCE), eq(passwordResets.accountId, id));
  // Repeatable until the global account itself is gone.
  const [, ...further] = everyDb(ctx);
  for (const db of further) await db.batch([db.update(accounts).set(unlinked).where(isTheirs), db.delete(passwordResets).where(isReset)]);
  await ctx.db.batch([
    ctx.db.update(accounts).set(unlinked).where(isTheirs),
    ctx.db.delete(sessions).where(and(eq(sessions.audience, GLOBAL_AUDIENCE), eq(sessions.accountId, id))),
    ctx.db.delete(passwordResets).where(isReset),
    ctx.db.delete(globalAccounts).where(eq(globalAccounts.id, id)),
  ]);
  return { id };
}

/** Deletes a global account once no account is linked to it; add it to the batch after the account's own deletion. */
export function deleteUnlinkedGlobalAccount(ctx: Ctx, { globalAccountId }: Pick<AccountRow, "globalAccountId">): BatchItem<"sqlite">[] {
  if (globalAccountId === null || isSharded(ctx.env)) return [];
  return [ctx.db.delete(globalAccounts).where(and(eq(globalAccounts.id, globalAccountId), isUnlinked(globalAccountId)))];
}

/** The same where accounts on other shards may be linked to it: call it once the account is deleted. */
export async function deleteUnlinkedElsewhere(ctx: Ctx, { globalAccountId }: Pick<AccountRow, "globalAccountId">): Promise<void> {
  if (globalAccountId !== null && isSharded(ctx.env)) await deleteUnlinked(ctx, globalAccountId);
}

async function deleteUnlinked(ctx: Ctx, id: string): Promise<void> {
  if (!(await isLinked(ctx, id)))
    await directoryOf(ctx)
      .delete(globalAccounts)
      .where(and(eq(globalAccounts.id, id), isUnlinked(id)));
}

/** Whether an account of any site is linked to a global account. */
async function isLinked(ctx: Ctx, globalAccountId: string): Promise<boolean> {
  const isTheirs = eq(accounts.globalAccountId, globalAccountId);
  const found = await fromEveryDb(ctx, (db) => db.select({ id: accounts.id }).from(accounts).where(isTheirs).limit(1));
  return found.length > 0;
}

function isUnlinked(globalAccountId: string): SQL {
  return sql`not exists (select 1 from ${accounts} a where a.global_account_id = ${globalAccountId})`;
}

/** A site that a global account administers, with the account there. */
export type GlobalSiteRow = z.output<typeof GlobalSite>;

const slug = sql<string>`(select s.slug from ${sites} s where s.id = ${accounts.siteId})`;

const globalSiteList: ListSpec<GlobalSiteRow> = {
  table: accounts,
  id: { by: accounts.id, of: (row) => row._id },
  rows: (db, slice) => sliceOf(db.select({ _id: accounts.id, siteId: accounts.siteId, slug }).from(accounts).$dynamic(), slice),
  sort: { slug: { by: slug, of: (row) => row.slug } },
  defaultDirection: 1,
  search: { slug },
};

/** The sites that the caller's global account administers; for the operator, those of every global account. */
export async function listGlobalSites(ctx: Ctx, query: ListQuery): Promise<ListPage<GlobalSiteRow>> {
  const actor = await ctx.caller();
  const isOfGlobal = actor.kind === "global" ? eq(accounts.globalAccountId, actor.id) : isNotNull(accounts.globalAccountId);
  return listRowsOfAll(ctx, everyDb(ctx), globalSiteList, query, isOfGlobal, administersSite("read"));
}
