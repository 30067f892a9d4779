import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accessCodes, accountEntitlements, accounts } from "../../db/schema/index.ts";
import type { PageGate } from "../../db/types.ts";
import { cameFirst, notFound } from "../lib/errors.ts";
import { managesPage } from "../lib/roles.ts";
import { commitIfCurrent, type Ctx, type NewEvent, newRow, ownRow } from "./context.ts";

export type EntitlementRow = typeof accountEntitlements.$inferSelect;

/** What is granted: by which way, and for what (`source`, such as "invite/<id>"), so that it can be taken back. */
export interface Grant {
  accountId: string;
  sku: string;
  grantedMethod: EntitlementRow["grantedMethod"];
  source?: string | null;
}

/** Statements for a batch, and what is to be told of them. */
export interface Planned {
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

/** Skus that an account holds; one that is scheduled to be cancelled is still held. */
export async function heldSkus(ctx: Ctx, accountId: string): Promise<string[]> {
  const rows = await ctx.db.select({ sku: accountEntitlements.sku }).from(accountEntitlements).where(heldBy(ctx, accountId));
  return rows.map((row) => row.sku);
}

/** Grants a sku. One that the account holds already stays as it is: there is never a second. */
export async function grantEntitlement(ctx: Ctx, grant: Grant): Promise<EntitlementRow> {
  const row = entitlementOf(ctx, grant);
  const insert = ctx.db.insert(accountEntitlements).values(row).onConflictDoNothing();
  if (await cameFirst(() => commitIfCurrent(ctx, insert, toldOf("entitlement_granted", row)))) return row;
  const held = await findHeld(ctx, grant.accountId, grant.sku);
  // Cancelled since: then this grant is the first again.
  return held ?? grantEntitlement(ctx, grant);
}

/**
 * Grants skus as part of another commit. Read `held` beforehand; should another request grant one of them meanwhile, the unique index
 * refuses the whole batch, which `refuseDuplicate(HELD_TWICE, …)` turns into a 409.
 */
export function planGrants(ctx: Ctx, { skus, ...grant }: Omit<Grant, "sku"> & { skus: string[] }, held: string[]): Planned {
  const rows = [...new Set(skus)].filter((sku) => !held.includes(sku)).map((sku) => entitlementOf(ctx, { ...grant, sku }));
  return {
    changes: rows.map((row) => ctx.db.insert(accountEntitlements).values(row)),
    events: rows.map((row) => toldOf("entitlement_granted", row)),
  };
}

/** The columns of the index that allows no sku to be held twice, as `refuseDuplicate` takes them. */
export const HELD_TWICE = "account_entitlements.site_id, account_entitlements.account_id, account_entitlements.sku";

/** Takes a held sku away at once. */
export async function revokeEntitlement(ctx: Ctx, { accountId, sku }: { accountId: string; sku: string }): Promise<EntitlementRow> {
  const held = await findHeld(ctx, accountId, sku);
  if (!held) throw notFound("The account does not hold this sku");
  const next = cancelled(ctx, held);
  const change = ctx.db
    .update(accountEntitlements)
    .set(cancellation(ctx))
    .where(and(ownRow(ctx, accountEntitlements, held.id), ne(accountEntitlements.status, "cancelled")));
  await commitIfCurrent(ctx, change, toldOf("entitlement_revoked", next));
  return next;
}

/** Takes away, as part of another commit, what was granted for `source` and is still held. */
export async function planRevocation(ctx: Ctx, source: string): Promise<Planned> {
  const ofSource = and(
    eq(accountEntitlements.siteId, ctx.siteId),
    eq(accountEntitlements.source, source),
    ne(accountEntitlements.status, "cancelled"),
  );
  const held = await ctx.db.select().from(accountEntitlements).where(ofSource);
  if (held.length === 0) return { changes: [], events: [] };
  const change = ctx.db.update(accountEntitlements).set(cancellation(ctx)).where(ofSource);
  return { changes: [change], events: held.map((row) => toldOf("entitlement_revoked", cancelled(ctx, row))) };
}

/** Cancels all that an account holds, which itself is going; the books keep what was. */
export function cancelHeld(ctx: Ctx, accountId: string): BatchItem<"sqlite"> {
  return ctx.db.update(accountEntitlements).set(cancellation(ctx)).where(heldBy(ctx, accountId));
}

/**
 * Whether a signed-in account passes a page's gate: a login gate that names skus asks for a login code of one of them, an entitlement
 * gate for an entitlement. Whoever manages the page passes.
 */
export async function passesGate(ctx: Ctx, accountId: string, page: { id: string; gate: PageGate }): Promise<boolean> {
  const { type, skus } = page.gate;
  if (type === "none" || (type === "login" && skus.length === 0)) return true;
  const named = sql`(select value from json_each(${JSON.stringify(skus)}))`;
  const held = ctx.db
    .select({ id: accountEntitlements.id })
    .from(accountEntitlements)
    .where(and(heldBy(ctx, accountId), sql`${accountEntitlements.sku} in ${named}`));
  const bound = ctx.db
    .select({ id: accessCodes.id })
    .from(accessCodes)
    .where(
      and(
        eq(accessCodes.siteId, ctx.siteId),
        eq(accessCodes.accountId, accountId),
        eq(accessCodes.type, "login"),
        sql`${accessCodes.sku} in ${named}`,
      ),
    );
  const [[account], [pass]] = await ctx.db.batch([
    ctx.db
      .select({ roles: accounts.roles })
      .from(accounts)
      .where(ownRow(ctx, accounts, accountId)),
    (type === "login" ? bound : held).limit(1),
  ]);
  return account !== undefined && (pass !== undefined || managesPage(account.roles, page.id, "read"));
}

/** What is told of an entitlement, as its owner and the site's systems see it. */
export function toEntitlement(row: EntitlementRow) {
  return {
    _id: row.id,
    accountId: row.accountId,
    entitlement: row.sku,
    grantedMethod: row.grantedMethod,
    presentmentCurrency: row.presentmentCurrency,
    siteId: row.siteId,
    status: row.status,
    dateGranted: row.dateGranted,
    dateCancelled: row.dateCancelled,
    dateRefunded: row.dateRefunded,
  };
}

/** Entitlements that the account holds now. */
export function heldBy(ctx: Ctx, accountId: string): SQL | undefined {
  return and(
    eq(accountEntitlements.siteId, ctx.siteId),
    eq(accountEntitlements.accountId, accountId),
    ne(accountEntitlements.status, "cancelled"),
  );
}

async function findHeld(ctx: Ctx, accountId: string, sku: string): Promise<EntitlementRow | undefined> {
  const [held] = await ctx.db
    .select()
    .from(accountEntitlements)
    .where(and(heldBy(ctx, accountId), eq(accountEntitlements.sku, sku)));
  return held;
}

function entitlementOf(ctx: Ctx, { accountId, sku, grantedMethod, source = null }: Grant): EntitlementRow {
  return {
    ...newRow(ctx),
    accountId,
    sku,
    grantedMethod,
    presentmentCurrency: null,
    status: "active",
    dateGranted: ctx.now,
    dateCancelled: null,
    dateRefunded: null,
    source,
  };
}

function cancellation(ctx: Ctx) {
  return { status: "cancelled" as const, dateCancelled: ctx.now, modified: ctx.now, version: sql`${accountEntitlements.version} + 1` };
}

function cancelled(ctx: Ctx, row: EntitlementRow): EntitlementRow {
  return { ...row, status: "cancelled", dateCancelled: ctx.now, modified: ctx.now, version: row.version + 1 };
}

function toldOf(type: string, row: EntitlementRow): NewEvent {
  return { type, resource: `entitlement/${row.id}`, data: toEntitlement(row) };
}
