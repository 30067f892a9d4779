import { and, eq, gt, isNull, ne, or, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { Bound } from "#db/prepared.ts";
import { accessCodes, accountEntitlements, type EntitlementRow } from "#db/schema/index.ts";
import type { PageGate } from "#db/types.ts";
import { nextStep, type Step, type Transition } from "./entitlement-state.ts";
import { wonRace, conflict, notFound } from "#worker/lib/errors.ts";
import { whereVersion, commitIfUnchanged, type Ctx, type NewEvent, newRow } from "#worker/services/core/context.ts";

const AT_ONCE = 50;

/** What is granted: by which way, and for what (`source`, such as "invite/<id>"), so that it can be taken back. */
export interface Grant {
  accountId: string;
  sku: string;
  grantedMethod: EntitlementRow["grantedMethod"];
  source?: string | null;
  /** Of a purchase: what was paid, in minor units of the currency, and where it is paid regularly until when. */
  price?: number;
  presentmentCurrency?: string | null;
  dateEnds?: number | null;
}

/** Statements for a batch, and what is to be told of them. */
export interface Planned {
  changes: BatchItem<"sqlite">[];
  events: NewEvent[];
}

/** Of these pages, the ids of those whose gate a signed-in account passes; one round trip, however many pages. */
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

/** Skus that an account holds; one that is scheduled to be cancelled is still held. */
export async function heldSkus(ctx: Ctx, accountId: string): Promise<string[]> {
  const rows = await ctx.db.select({ sku: accountEntitlements.sku }).from(accountEntitlements).where(heldBy(ctx, accountId));
  return rows.map((row) => row.sku);
}

/** Grants a sku. One that the account holds already stays as it is: there is never a second. */
export async function grantEntitlement(ctx: Ctx, grant: Grant): Promise<EntitlementRow> {
  const row = entitlementOf(ctx, grant);
  const insert = ctx.db.insert(accountEntitlements).values(row).onConflictDoNothing();
  if (await wonRace(() => commitIfUnchanged(ctx, insert, grantOf(row)))) return row;
  const held = await findHeld(ctx, grant.accountId, grant.sku);
  // Cancelled since: then this grant is the first again.
  return held ?? grantEntitlement(ctx, grant);
}

/**
 * Grants skus as part of another commit. Read `held` beforehand; should another request grant one of them meanwhile, the unique index
 * refuses the whole batch, which `refuseDuplicate(HELD_TWICE, …)` turns into a 409.
 */
export function planGrants(ctx: Ctx, { skus, price = 0, ...grant }: Omit<Grant, "sku"> & { skus: string[] }, held: string[]): Planned {
  const granted = [...new Set(skus)].filter((sku) => !held.includes(sku));
  // What was paid for all of them stands with the first, so that prices add up to payments.
  const rows = granted.map((sku, index) => entitlementOf(ctx, { ...grant, sku, price: index === 0 ? price : 0 }));
  return {
    changes: rows.map((row) => ctx.db.insert(accountEntitlements).values(row)),
    events: rows.map(grantOf),
  };
}

/** The columns of the index that allows no sku to be held twice, as `refuseDuplicate` takes them. */
export const HELD_TWICE = "account_entitlements.site_id, account_entitlements.account_id, account_entitlements.sku";

/** Takes a held sku away at once; a 409 where it is paid regularly, since the payments would go on. */
export async function revokeEntitlement(ctx: Ctx, { accountId, sku }: { accountId: string; sku: string }): Promise<EntitlementRow> {
  const held = await findHeld(ctx, accountId, sku);
  if (!held) throw notFound("The account does not hold this sku");
  return changeEntitlement(ctx, held, "remove");
}

/** Takes an entitlement one step on; a 409 where that step can't be taken, or another request was faster. */
export async function changeEntitlement(ctx: Ctx, row: EntitlementRow, transition: Transition): Promise<EntitlementRow> {
  const step = nextStep(row, transition);
  if (!step.allowed) throw conflict(step.message);
  const { next, change, event } = planStep(ctx, row, step);
  await commitIfUnchanged(ctx, change, event);
  return next;
}

/** The change that a step makes, as long as the row is as it was read, and what is told of it; `refunded` is what of the price is back now. */
export function planStep(ctx: Ctx, row: EntitlementRow, step: Step, refunded = row.refunded) {
  const isBackAgain = refunded < row.refunded && refunded === 0;
  const next: EntitlementRow = {
    ...row,
    status: step.status,
    refunded,
    dateCancelled: step.revokes ? ctx.now : row.dateCancelled,
    dateRefunded: refunded > row.refunded ? ctx.now : isBackAgain ? null : row.dateRefunded,
    modified: ctx.now,
    version: row.version + 1,
  };
  const change = ctx.db
    .update(accountEntitlements)
    .set(next)
    .where(whereVersion(ctx, accountEntitlements, row));
  return { next, change, event: entitlementEvent(step.event, next) };
}

/** Takes what was granted for `source` one step on, as part of another commit; what can't take it stays as it is. */
export async function planTransition(ctx: Ctx, source: string, transition: "cancel" | "remove" | "expire"): Promise<Planned> {
  const steps = (await findBySource(ctx, source)).flatMap((row) => {
    const step = nextStep(row, transition);
    return step.allowed ? [planStep(ctx, row, step)] : [];
  });
  return { changes: steps.map(({ change }) => change), events: steps.map(({ event }) => event) };
}

/** The next period of what is paid regularly: until when, and what was paid for it. What is held no more stays so. */
export async function planRenewal(ctx: Ctx, source: string, period: { dateEnds: number; price: number }): Promise<Planned> {
  const steps = (await findBySource(ctx, source)).flatMap((row) => {
    const step = nextStep(row, "renew");
    // Told late, the later end stays.
    const isNews = (row.dateEnds ?? 0) <= period.dateEnds;
    return step.allowed && isNews ? [planStep(ctx, { ...row, ...period, refunded: 0 }, step)] : [];
  });
  return { changes: steps.map(({ change }) => change), events: steps.map(({ event }) => event) };
}

/** Entitlements that were granted for something, held or not. */
export function findBySource(ctx: Ctx, source: string): Promise<EntitlementRow[]> {
  return ctx.db
    .select()
    .from(accountEntitlements)
    .where(and(eq(accountEntitlements.siteId, ctx.siteId), eq(accountEntitlements.source, source)));
}

/** Cancels all that an account holds, which itself is gone; the books keep what was. Safe to repeat. */
export async function cancelHeld(ctx: Ctx, accountId: string): Promise<void> {
  for (;;) {
    const rows = await ctx.db.select().from(accountEntitlements).where(heldBy(ctx, accountId)).limit(AT_ONCE);
    for (const row of rows) await wonRace(() => changeEntitlement(ctx, row, "cancel"));
    if (rows.length === 0) return;
  }
}

/** What is told of an entitlement, as its owner and the site's systems see it. */
export function toEntitlement(row: EntitlementRow) {
  return {
    _id: row.id,
    accountId: row.accountId,
    entitlement: row.sku,
    grantedMethod: row.grantedMethod,
    presentmentCurrency: row.presentmentCurrency,
    price: row.price,
    refunded: row.refunded,
    siteId: row.siteId,
    status: row.status,
    dateGranted: row.dateGranted,
    dateCancelled: row.dateCancelled,
    dateRefunded: row.dateRefunded,
    dateEnds: row.dateEnds,
  };
}

/** Entitlements that the account holds now. */
export function heldBy(ctx: { siteId: Bound<string> }, accountId: Bound<string>): SQL | undefined {
  return and(
    eq(accountEntitlements.siteId, ctx.siteId),
    eq(accountEntitlements.accountId, accountId),
    ne(accountEntitlements.status, "cancelled"),
  );
}

/** Those that give access at a moment: what is scheduled to be cancelled gives none after its day, also while its end is yet to be booked. */
export function heldAt(ctx: { siteId: Bound<string> }, accountId: Bound<string>, now: Bound<number>): SQL | undefined {
  return and(heldBy(ctx, accountId), givesAccess(now));
}

/** The same of an entitlement, whoever holds it. */
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

function entitlementEvent(type: string, row: EntitlementRow): NewEvent {
  return { type, resource: `entitlement/${row.id}`, data: toEntitlement(row) };
}
