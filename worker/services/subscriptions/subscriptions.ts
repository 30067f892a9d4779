import { and, eq, isNotNull, ne, notExists, type SQL, sql } from "drizzle-orm";
import { accountEntitlements, accounts, charges, type EntitlementRow, type SubscriptionRow, subscriptions } from "#db/schema/index.ts";
import { conflict, Failure, forbidden, notFound, refuseDuplicate } from "#worker/lib/errors.ts";
import { type EntitlementWithSubscription, type SubscriptionInput, type SubscriptionPatch, toSubscription } from "./schemas.ts";
import {
  whereVersion,
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
} from "#worker/services/core/context.ts";
import { grantEntitlement } from "./entitlements.ts";
import { equalTo, idIn, type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const DUPLICATE = "subscriptions.site_id, subscriptions.sku";

const subscriptionList: ListSpec<SubscriptionRow> = {
  table: subscriptions,
  id: { by: subscriptions.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(subscriptions).$dynamic(), slice),
  sort: {
    modified: { by: subscriptions.modified, of: (row) => row.modified },
    created: { by: subscriptions.created, of: (row) => row.created },
    name: { by: subscriptions.name, of: (row) => row.name },
    sku: { by: subscriptions.sku, of: (row) => row.sku },
  },
  defaultDirection: -1,
  search: { name: subscriptions.name, sku: subscriptions.sku },
};

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
  await refuseTakenSku(() => commit(ctx, ctx.db.insert(subscriptions).values(subscription), changeEvent("created", subscription)));
  return subscription;
}

/** Changes what is given of a subscription. Its sku is what accounts hold: while one does, it stays. */
export async function updateSubscription(ctx: Ctx, id: string, input: SubscriptionPatch): Promise<SubscriptionRow> {
  if (input.siteId !== undefined) requireOwnSite(ctx, input.siteId);
  const current = await getSubscription(ctx, id);
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const next: SubscriptionRow = { ...current, ...given, ...nextVersion(ctx, current) };
  const moves = next.sku !== current.sku;
  const change = ctx.db
    .update(subscriptions)
    .set(next)
    .where(and(whereVersion(ctx, subscriptions, current), moves ? unheld(ctx, current.sku) : undefined));
  const write = () => commitIfUnchanged(ctx, change, changeEvent("updated", next));
  await refuseTakenSku(() => (moves ? unlessHeld(ctx, current.sku, "its sku stays", write) : write()));
  return next;
}

/** Takes a subscription from the offer. Nobody may hold it: what is held keeps its name and its price. */
export async function deleteSubscription(ctx: Ctx, id: string): Promise<SubscriptionRow> {
  const current = await getSubscription(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(subscriptions).where(and(whereVersion(ctx, subscriptions, current), unheld(ctx, current.sku)));
  await unlessHeld(ctx, current.sku, "it stays", () => commitIfUnchanged(ctx, change, changeEvent("deleted", current)));
  return current;
}

/** Gives an account a sku that the site offers. */
export async function grantSku(ctx: Ctx, wanted: { accountId: string; sku: string }): Promise<EntitlementRow> {
  return grantOffered(ctx, wanted.accountId, eq(sku, wanted.sku));
}

/** The same by the subscription's id. */
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

const entitlementList: ListSpec<EntitlementRow> = {
  table: accountEntitlements,
  id: { by: accountEntitlements.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(accountEntitlements).$dynamic(), slice),
  sort: { created: { by: accountEntitlements.created, of: (row) => row.created } },
  defaultDirection: -1,
  search: {},
};

/** What the caller holds and held. */
export async function listOwnEntitlements(ctx: Ctx, query: ListQuery): Promise<ListPage<EntitlementWithSubscription>> {
  return entitlementsOf(ctx, (await callerAccount(ctx)).id, query);
}

/** What an account of the site holds and held: for a key or admin any account, for everyone else their own. */
export async function listEntitlements(ctx: Ctx, accountId: string, query: ListQuery): Promise<ListPage<EntitlementWithSubscription>> {
  const page = await entitlementsOf(ctx, accountId, query);
  const actor = await ctx.caller();
  const isOwn = actor.kind === "account" && actor.id === accountId;
  if (!isOwn && !isManager(actor)) throw forbidden("Only admins read other accounts' entitlements");
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

/** What the site offers under these skus. */
export async function subscriptionsOf(ctx: Ctx, skus: string[]): Promise<Map<string, SubscriptionRow>> {
  if (skus.length === 0) return new Map();
  const rows = await ctx.db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.siteId, ctx.siteId), idIn(sku, skus)));
  return new Map(rows.map((row) => [row.sku, row]));
}

/** For the `where` of a change: nobody holds this sku, or has a page open to buy it. */
function unheld(ctx: Ctx, held: string): SQL | undefined {
  return and(
    notExists(ctx.db.select({ id: accountEntitlements.id }).from(accountEntitlements).where(holders(ctx, held))),
    notExists(ctx.db.select({ id: charges.id }).from(charges).where(buyers(ctx, held))),
  );
}

/** Says how many accounts hold the sku, or are about to buy it, where that is why a change was refused. */
async function unlessHeld<T>(ctx: Ctx, held: string, consequence: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "conflict") throw error;
    const count = await ctx.db.$count(accountEntitlements, holders(ctx, held));
    if (count > 0) throw conflict(`${count} ${count === 1 ? "account holds" : "accounts hold"} ${held}: ${consequence}`);
    const pages = await ctx.db.$count(charges, buyers(ctx, held));
    throw pages === 0 ? error : conflict(`Payment pages are open for ${held}: ${consequence} until they are paid or over`);
  }
}

function holders(ctx: Ctx, held: string): SQL | undefined {
  return and(eq(accountEntitlements.siteId, ctx.siteId), eq(accountEntitlements.sku, held), ne(accountEntitlements.status, "cancelled"));
}

function buyers(ctx: Ctx, wanted: string): SQL | undefined {
  const names = sql`exists (select 1 from json_each(${charges.skus}) where value = ${wanted})`;
  // Whatever is pending is due: by that index they are found.
  return and(isNotNull(charges.due), eq(charges.siteId, ctx.siteId), eq(charges.status, "pending"), names);
}

function refuseTakenSku<T>(write: () => Promise<T>): Promise<T> {
  return refuseDuplicate(DUPLICATE, "The site has a subscription with this sku already", write);
}

function changeEvent(change: "created" | "updated" | "deleted", subscription: SubscriptionRow): NewEvent {
  return { type: `subscription.${change}`, resource: `subscription/${subscription.id}`, data: toSubscription(subscription) };
}
