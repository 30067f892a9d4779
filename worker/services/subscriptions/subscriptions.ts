import { and, eq, isNotNull, ne, notExists, type SQL, sql } from "drizzle-orm";
import { accounts } from "#db/schema/accounts.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { accountEntitlements, type EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import { type SubscriptionRow, subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { conflict, Failure, forbidden, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { type EntitlementWithSubscription, type SubscriptionInput, type SubscriptionPatch, toSubscription } from "./schemas.ts";
import {
  callerAccount,
  commit,
  commitIfUnchanged,
  type Ctx,
  isManager,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { grantEntitlement } from "./entitlements.ts";
import { equalTo, idIn, type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const DUPLICATE = "subscriptions.site_id, subscriptions.sku";

const subscriptionList = tableList<SubscriptionRow>({
  table: subscriptions,
  rows: (db, slice) => sliceOf(db.select().from(subscriptions).$dynamic(), slice),
  sort: { modified: subscriptions.modified, created: subscriptions.created, name: subscriptions.name, sku: subscriptions.sku },
  search: { name: subscriptions.name, sku: subscriptions.sku },
});

const { sku, subscriptionProvider, recurrence } = subscriptions;

export function listSubscriptions(ctx: Ctx, query: ListQuery): Promise<ListPage<SubscriptionRow>> {
  return listRows(
    ctx,
    subscriptionList,
    query,
    eq(subscriptions.siteId, ctx.siteId),
    ...equalTo({ sku, subscriptionProvider, recurrence }, { ...query }),
  );
}

export function getSubscription(ctx: Ctx, id: string): Promise<SubscriptionRow> {
  return findSubscription(ctx, ownRow(ctx, subscriptions, id));
}

export function getSubscriptionBySku(ctx: Ctx, wanted: string): Promise<SubscriptionRow> {
  return findSubscription(ctx, and(eq(subscriptions.siteId, ctx.siteId), eq(sku, wanted)));
}

async function findSubscription(ctx: Ctx, which: SQL | undefined): Promise<SubscriptionRow> {
  const [subscription] = await ctx.db.select().from(subscriptions).where(which);
  if (!subscription) throw notFound("Subscription not found");
  return subscription;
}

export async function createSubscription(ctx: Ctx, input: SubscriptionInput): Promise<SubscriptionRow> {
  requireOwnSite(ctx, input.siteId);
  const subscription: SubscriptionRow = { ...input, ...newRow(ctx) };
  await rejectTakenSku(() => commit(ctx, ctx.db.insert(subscriptions).values(subscription), changeEvent("created", subscription)));
  return subscription;
}

/** Changes the given fields of a subscription. Its sku can't change while an account holds it. */
export async function updateSubscription(ctx: Ctx, id: string, input: SubscriptionPatch): Promise<SubscriptionRow> {
  if (input.siteId !== undefined) requireOwnSite(ctx, input.siteId);
  const current = await getSubscription(ctx, id);
  const changes = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const next: SubscriptionRow = { ...current, ...changes, ...nextVersion(ctx, current) };
  const changesSku = next.sku !== current.sku;
  const change = updateRow(ctx, subscriptions, current, next, changesSku ? unheld(ctx, current.sku) : undefined);
  const write = () => commitIfUnchanged(ctx, change, changeEvent("updated", next));
  await rejectTakenSku(() => (changesSku ? unlessHeld(ctx, current.sku, "its sku can't change", write) : write()));
  return next;
}

/** Deletes a subscription that no account holds. */
export async function deleteSubscription(ctx: Ctx, id: string): Promise<SubscriptionRow> {
  const current = await getSubscription(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(subscriptions).where(and(whereVersion(ctx, subscriptions, current), unheld(ctx, current.sku)));
  await unlessHeld(ctx, current.sku, "it can't be deleted", () => commitIfUnchanged(ctx, change, changeEvent("deleted", current)));
  return current;
}

/** Grants an account a sku that the site offers. */
export async function grantSku(ctx: Ctx, wanted: { accountId: string; sku: string }): Promise<EntitlementRow> {
  return grantOffered(ctx, wanted.accountId, eq(sku, wanted.sku));
}

/** The same by subscription id. */
export async function grantSubscription(ctx: Ctx, wanted: { accountId: string; subscriptionId: string }): Promise<EntitlementRow> {
  return grantOffered(ctx, wanted.accountId, eq(subscriptions.id, wanted.subscriptionId));
}

async function grantOffered(ctx: Ctx, accountId: string, which: SQL): Promise<EntitlementRow> {
  const [[account], [subscription]] = await ctx.db.batch([
    ctx.db
      .select({ id: accounts.id })
      .from(accounts)
      .where(ownRow(ctx, accounts, accountId)),
    ctx.db
      .select({ sku })
      .from(subscriptions)
      .where(and(eq(subscriptions.siteId, ctx.siteId), which)),
  ]);
  if (!account) throw notFound("Account not found");
  if (!subscription) throw notFound("Subscription not found");
  return grantEntitlement(ctx, { accountId, sku: subscription.sku, grantedMethod: "customerService" });
}

const entitlementList = tableList<EntitlementRow>({
  table: accountEntitlements,
  rows: (db, slice) => sliceOf(db.select().from(accountEntitlements).$dynamic(), slice),
  sort: { created: accountEntitlements.created },
  search: {},
});

/** The caller's current and past entitlements. */
export async function listOwnEntitlements(ctx: Ctx, query: ListQuery): Promise<ListPage<EntitlementWithSubscription>> {
  return entitlementsOf(ctx, (await callerAccount(ctx)).id, query);
}

/** An account's current and past entitlements: keys and admins can read those of any account, others only their own. */
export async function listEntitlements(ctx: Ctx, accountId: string, query: ListQuery): Promise<ListPage<EntitlementWithSubscription>> {
  const page = await entitlementsOf(ctx, accountId, query);
  const actor = await ctx.caller();
  const isOwn = actor.kind === "account" && actor.id === accountId;
  if (!isOwn && !isManager(actor)) throw forbidden("Only admins can read other accounts' entitlements");
  if (page.rows.length > 0) return page;
  const [account] = await ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(ownRow(ctx, accounts, accountId));
  if (!account) throw notFound("Account not found");
  return page;
}

async function entitlementsOf(ctx: Ctx, accountId: string, query: ListQuery): Promise<ListPage<EntitlementWithSubscription>> {
  const { status } = accountEntitlements;
  const page = await listRows(
    ctx,
    entitlementList,
    query,
    eq(accountEntitlements.siteId, ctx.siteId),
    eq(accountEntitlements.accountId, accountId),
    ...equalTo({ status, sku: accountEntitlements.sku }, { ...query }),
  );
  const offered = await subscriptionsOf(
    ctx,
    page.rows.map((row) => row.sku),
  );
  return { ...page, rows: page.rows.map((row) => ({ ...row, subscription: offered.get(row.sku) ?? null })) };
}

/** The site's subscriptions with these skus. */
export async function subscriptionsOf(ctx: Ctx, skus: string[]): Promise<Map<string, SubscriptionRow>> {
  if (skus.length === 0) return new Map();
  const rows = await ctx.db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.siteId, ctx.siteId), idIn(sku, skus)));
  return new Map(rows.map((row) => [row.sku, row]));
}

/** A write condition: no account holds this sku or has a payment page open for it. */
function unheld(ctx: Ctx, held: string): SQL | undefined {
  return and(
    notExists(ctx.db.select({ id: accountEntitlements.id }).from(accountEntitlements).where(holders(ctx, held))),
    notExists(ctx.db.select({ id: charges.id }).from(charges).where(buyers(ctx, held))),
  );
}

/** Explains a rejected change by the number of accounts that hold the sku, or by open payment pages. */
async function unlessHeld<T>(ctx: Ctx, held: string, consequence: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "conflict") throw error;
    const count = await ctx.db.$count(accountEntitlements, holders(ctx, held));
    if (count > 0) throw conflict(`${count} ${count === 1 ? "account holds" : "accounts hold"} ${held}: ${consequence}`);
    const pages = await ctx.db.$count(charges, buyers(ctx, held));
    throw pages === 0 ? error : conflict(`Payment pages are open for ${held}: ${consequence} until they are paid or expired`);
  }
}

function holders(ctx: Ctx, held: string): SQL | undefined {
  return and(eq(accountEntitlements.siteId, ctx.siteId), eq(accountEntitlements.sku, held), ne(accountEntitlements.status, "cancelled"));
}

function buyers(ctx: Ctx, wanted: string): SQL | undefined {
  const names = sql`exists (select 1 from json_each(${charges.skus}) where value = ${wanted})`;
  // Every pending charge has `due`, so its index finds them.
  return and(isNotNull(charges.due), eq(charges.siteId, ctx.siteId), eq(charges.status, "pending"), names);
}

function rejectTakenSku<T>(write: () => Promise<T>): Promise<T> {
  return rejectDuplicate(DUPLICATE, "The site already has a subscription with this sku", write);
}

function changeEvent(change: "created" | "updated" | "deleted", subscription: SubscriptionRow): NewEvent {
  return { type: `subscription.${change}`, resource: `subscription/${subscription.id}`, data: toSubscription(subscription) };
}
