import { and, eq, gt, isNull, ne, or, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Bound } from "#db/prepared.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { accountEntitlements, type EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import type { PageGate } from "#db/types.ts";
import { toEntitlement } from "./schemas.ts";
import { nextStep, type Step, type Transition } from "./entitlement-state.ts";
import { wonRace, conflict, notFound } from "#worker/lib/errors.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, newRow, updateRow } from "#worker/services/core/context.ts";

const BATCH_SIZE = 50;

/** What is granted, how, and for what (`source`, such as "invite/<id>"), so that it can be revoked. */
export interface Grant {
  accountId: string;
  sku: string;
  grantedMethod: EntitlementRow["grantedMethod"];
  source?: string | null;
  /** For purchases: the price in minor units of the currency, and for recurring ones the end of the paid period. */
  price?: number;
  presentmentCurrency?: string | null;
  dateEnds?: number | null;
}

/** Statements for a batch, and their events. */
export interface Planned {
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

/** The ids of the pages whose gate a signed-in account passes; one round trip for any number of pages. */
export async function pagesOpenTo(ctx: Ctx, accountId: string, pages: { id: string; gate: PageGate }[]): Promise<Set<string>> {
  const [held, bound] = await ctx.db.batch([
    ctx.db
      .select({ sku: accountEntitlements.sku })
      .from(accountEntitlements)
      .where(heldAt(ctx, accountId, ctx.now)),
    ctx.db
      .select({ sku: accessCodes.sku })
      .from(accessCodes)
      .where(and(eq(accessCodes.siteId, ctx.siteId), eq(accessCodes.accountId, accountId), eq(accessCodes.type, "login"))),
  ]);
  const skusOf = { none: [], login: bound.map(({ sku }) => sku), entitlement: held.map(({ sku }) => sku) };
  const isOpen = ({ type, skus }: PageGate): boolean =>
    type === "none" || (type === "login" && skus.length === 0) || skus.some((sku) => skusOf[type].includes(sku));
  return new Set(pages.filter(({ gate }) => isOpen(gate)).map(({ id }) => id));
}

/** Skus that an account holds, including those scheduled to be cancelled. */
export async function heldSkus(ctx: Ctx, accountId: string): Promise<string[]> {
  const rows = await ctx.db.select({ sku: accountEntitlements.sku }).from(accountEntitlements).where(heldBy(ctx, accountId));
  return rows.map((row) => row.sku);
}

/** Grants a sku. If the account already holds it, nothing changes: there is never a second one. */
export async function grantEntitlement(ctx: Ctx, grant: Grant): Promise<EntitlementRow> {
  const row = entitlementOf(ctx, grant);
  const insert = ctx.db.insert(accountEntitlements).values(row).onConflictDoNothing();
  if (await wonRace(() => commitIfUnchanged(ctx, insert, grantOf(row)))) return row;
  const held = await findHeld(ctx, grant.accountId, grant.sku);
  // Cancelled in the meantime: try again.
  return held ?? grantEntitlement(ctx, grant);
}

/**
 * Grants skus as part of another commit. Read `held` beforehand; if another request grants one of them meanwhile, the unique index
 * rejects the whole batch, which `rejectDuplicate(HELD_TWICE, …)` turns into a 409.
 */
export function planGrants(ctx: Ctx, { skus, price = 0, ...grant }: Omit<Grant, "sku"> & { skus: string[] }, held: string[]): Planned {
  const granted = [...new Set(skus)].filter((sku) => !held.includes(sku));
  // The total price is stored with the first, so that prices add up to payments.
  const rows = granted.map((sku, index) => entitlementOf(ctx, { ...grant, sku, price: index === 0 ? price : 0 }));
  return {
    changes: rows.map((row) => ctx.db.insert(accountEntitlements).values(row)),
    events: rows.map(grantOf),
  };
}

/** The columns of the unique index on held skus, for `rejectDuplicate`. */
export const HELD_TWICE = "account_entitlements.site_id, account_entitlements.account_id, account_entitlements.sku";

/** Revokes a held sku immediately; a 409 if it is recurring, because the payments would continue. */
export async function revokeEntitlement(ctx: Ctx, { accountId, sku }: { accountId: string; sku: string }): Promise<EntitlementRow> {
  const held = await findHeld(ctx, accountId, sku);
  if (!held) throw notFound("The account does not hold this sku");
  return changeEntitlement(ctx, held, "remove");
}

/** Applies a transition to an entitlement; a 409 if it isn't allowed or another request was faster. */
export async function changeEntitlement(ctx: Ctx, row: EntitlementRow, transition: Transition): Promise<EntitlementRow> {
  const step = nextStep(row, transition);
  if (!step.allowed) throw conflict(step.message);
  const { next, change, event } = planStep(ctx, row, step);
  await commitIfUnchanged(ctx, change, event);
  return next;
}

/** The write and event of a step, conditional on the row being unchanged; `refunded` is the amount refunded so far. */
export function planStep(ctx: Ctx, row: EntitlementRow, step: Step, refunded = row.refunded) {
  const isRefundUndone = refunded < row.refunded && refunded === 0;
  const next: EntitlementRow = {
    ...row,
    status: step.status,
    refunded,
    dateCancelled: step.revokes ? ctx.now : row.dateCancelled,
    dateRefunded: refunded > row.refunded ? ctx.now : isRefundUndone ? null : row.dateRefunded,
    modified: ctx.now,
    version: row.version + 1,
  };
  const change = updateRow(ctx, accountEntitlements, row, next);
  return { next, change, event: entitlementEvent(step.event, next) };
}

/** Applies a transition to everything granted for `source`, as part of another commit; skips entitlements that don't allow it. */
export async function planTransition(ctx: Ctx, source: string, transition: "cancel" | "remove" | "expire"): Promise<Planned> {
  const steps = (await findBySource(ctx, source)).flatMap((row) => {
    const step = nextStep(row, transition);
    return step.allowed ? [planStep(ctx, row, step)] : [];
  });
  return { changes: steps.map(({ change }) => change), events: steps.map(({ event }) => event) };
}

/** Renews recurring entitlements for the next period: its end and its price. Skips those no longer held. */
export async function planRenewal(ctx: Ctx, source: string, period: { dateEnds: number; price: number }): Promise<Planned> {
  const steps = (await findBySource(ctx, source)).flatMap((row) => {
    const step = nextStep(row, "renew");
    // If notified late, keep the later end.
    const isNews = (row.dateEnds ?? 0) <= period.dateEnds;
    return step.allowed && isNews ? [planStep(ctx, { ...row, ...period, refunded: 0 }, step)] : [];
  });
  return { changes: steps.map(({ change }) => change), events: steps.map(({ event }) => event) };
}

/** All entitlements granted for a source, held or not. */
export function findBySource(ctx: Ctx, source: string): Promise<EntitlementRow[]> {
  return ctx.db
    .select()
    .from(accountEntitlements)
    .where(and(eq(accountEntitlements.siteId, ctx.siteId), eq(accountEntitlements.source, source)));
}

/** Cancels everything that a deleted account holds; the records are kept. Safe to repeat. */
export async function cancelHeld(ctx: Ctx, accountId: string): Promise<void> {
  for (;;) {
    const rows = await ctx.db.select().from(accountEntitlements).where(heldBy(ctx, accountId)).limit(BATCH_SIZE);
    for (const row of rows) await wonRace(() => changeEntitlement(ctx, row, "cancel"));
    if (rows.length === 0) return;
  }
}

/** Entitlements that the account holds now. */
export function heldBy(ctx: { siteId: Bound<string> }, accountId: Bound<string>): SQL | undefined {
  return and(
    eq(accountEntitlements.siteId, ctx.siteId),
    eq(accountEntitlements.accountId, accountId),
    ne(accountEntitlements.status, "cancelled"),
  );
}

/** Entitlements that give access at a time: one scheduled to be cancelled gives none after its end, even before its expiry is recorded. */
export function heldAt(ctx: { siteId: Bound<string> }, accountId: Bound<string>, now: Bound<number>): SQL | undefined {
  return and(heldBy(ctx, accountId), givesAccess(now));
}

/** The same condition for any account. */
export function givesAccess(now: Bound<number>): SQL | undefined {
  const { status, dateEnds } = accountEntitlements;
  return and(ne(status, "cancelled"), or(ne(status, "cancelScheduled"), isNull(dateEnds), gt(dateEnds, now)));
}

async function findHeld(ctx: Ctx, accountId: string, sku: string): Promise<EntitlementRow | undefined> {
  const [held] = await ctx.db
    .select()
    .from(accountEntitlements)
    .where(and(heldBy(ctx, accountId), eq(accountEntitlements.sku, sku)));
  return held;
}

function entitlementOf(ctx: Ctx, grant: Grant): EntitlementRow {
  const { accountId, sku, grantedMethod, source = null, price = 0, presentmentCurrency = null, dateEnds = null } = grant;
  return {
    ...newRow(ctx),
    accountId,
    sku,
    grantedMethod,
    presentmentCurrency,
    price,
    refunded: 0,
    status: "active",
    dateGranted: ctx.now,
    dateCancelled: null,
    dateRefunded: null,
    dateEnds,
    source,
  };
}

function grantOf(row: EntitlementRow): NewEvent {
  return entitlementEvent(row.grantedMethod === "purchased" ? "entitlement_purchased" : "entitlement_granted", row);
}

function entitlementEvent(type: Step["event"] | "entitlement_purchased", row: EntitlementRow): NewEvent {
  return { type, resource: `entitlement/${row.id}`, data: toEntitlement(row) };
}
