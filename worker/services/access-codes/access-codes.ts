import { and, eq, isNull, notExists, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { alias } from "drizzle-orm/sqlite-core";
import { type AccessCodeRow, accessCodes } from "#db/schema/commerce/access-codes.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { codesOf } from "#worker/lib/crypto/codes.ts";
import { fromBase64Url, randomToken } from "#worker/lib/crypto/crypto.ts";
import { wonRace, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type AddAccessCode, type BulkInput, toAccessCodeEvent } from "./schemas.ts";
import {
  callerAccount,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  ownRow,
  requireMatch,
} from "#worker/services/core/context.ts";
import { HELD_TWICE, heldBy, planGrants } from "#worker/services/subscriptions/entitlements.ts";
import { findWithin, guessBudgets } from "#worker/services/core/limits.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { commitReferencing, type Reference } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const DUPLICATE = "access_codes.site_id, access_codes.access_code";
// One statement inserts this many codes: 150 kB of JSON in one parameter.
const CODES_PER_STATEMENT = 10_000;
const CODES_PER_CHUNK = 5_000;
const SEED_BYTES = 16;

const accessCodeList = tableList<AccessCodeRow>({
  table: accessCodes,
  rows: (db, slice) => sliceOf(db.select().from(accessCodes).$dynamic(), slice),
  sort: { created: accessCodes.created, modified: accessCodes.modified, sku: accessCodes.sku },
  search: { accessCode: accessCodes.accessCode },
});

export function listAccessCodes(
  ctx: Ctx,
  query: ListQuery & { sku?: string; type?: AccessCodeRow["type"]; tags?: string[] },
): Promise<ListPage<AccessCodeRow>> {
  const { sku, type, tags = [] } = query;
  return listRows(
    ctx,
    accessCodeList,
    query,
    eq(accessCodes.siteId, ctx.siteId),
    sku === undefined ? undefined : eq(accessCodes.sku, sku),
    type && eq(accessCodes.type, type),
    ...tags.map(hasTag),
  );
}

function hasTag(tag: string): SQL {
  return sql`exists (select 1 from json_each(${accessCodes.tags}) where value = ${tag})`;
}

export async function getAccessCode(ctx: Ctx, id: string): Promise<AccessCodeRow> {
  const [code] = await ctx.db
    .select()
    .from(accessCodes)
    .where(ownRow(ctx, accessCodes, id));
  if (!code) throw notFound("Access code not found");
  return code;
}

/** Adds a code that the site chose itself. */
export async function addAccessCode(ctx: Ctx, input: AddAccessCode): Promise<AccessCodeRow> {
  requireOwnSite(ctx, input.siteId);
  const { accessCode, sku, type, tags = [] } = input;
  const code: AccessCodeRow = { ...newRow(ctx), accessCode, sku, type, tags, accountId: null, consumedAt: null };
  await rejectDuplicate(DUPLICATE, "The site already has this access code", () =>
    commitReferencing(ctx, skuOf(code), ctx.db.insert(accessCodes).values(code), codeEvent("created", code)),
  );
  return code;
}

function skuOf({ sku }: { sku: string }): Reference[] {
  return [{ kind: "sku", id: sku, path: "sku" }];
}

/** Deletes a code. Granted entitlements stay; the account of a login code loses access to its gates. */
export async function deleteAccessCode(ctx: Ctx, id: string): Promise<AccessCodeRow> {
  const current = await getAccessCode(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, accessCodes, current);
  await commitIfUnchanged(ctx, change, codeEvent("deleted", current));
  return current;
}

/** Creates up to 100,000 codes, all or none, and returns the seed from which `accessCodeChunks` derives them. */
export async function createAccessCodes(ctx: Ctx, { qty, sku, tags }: BulkInput): Promise<string> {
  await ctx.caller();
  // A repeated request: the codes already exist.
  if (ctx.receipt !== undefined) return ctx.receipt;
  const seed = randomToken(SEED_BYTES);
  const batchId = newId(ctx.now);
  const inserts: BatchItem<"sqlite">[] = [];
  for (let offset = 0; offset < qty; offset += CODES_PER_STATEMENT) {
    const codes = await codesOf(fromBase64Url(seed), offset, Math.min(CODES_PER_STATEMENT, qty - offset));
    inserts.push(insertCodes(ctx, { batchId, offset, codes, sku, tags }));
  }
  const event: NewEvent<"accesscode.bulkCreated"> = {
    type: "accesscode.bulkCreated",
    resource: `accesscode/${batchId}`,
    data: { batchId, siteId: ctx.siteId, qty, sku, tags },
  };
  await rejectDuplicate(DUPLICATE, "A generated code already exists on the site; try again", () =>
    commitReferencing(ctx, skuOf({ sku }), inserts, event),
  );
  ctx.receipt = seed;
  return seed;
}

/** Derives the codes of a seed in chunks, so that memory use doesn't grow with their number. */
export async function* accessCodeChunks(seed: string, qty: number): AsyncGenerator<string[]> {
  const bytes = fromBase64Url(seed);
  for (let offset = 0; offset < qty; offset += CODES_PER_CHUNK) yield codesOf(bytes, offset, Math.min(CODES_PER_CHUNK, qty - offset));
}

// Row ids are the batch id with a counter as its last five characters, so that the rows are adjacent in the index.
function insertCodes(
  ctx: Ctx,
  batch: { batchId: string; offset: number; codes: string[]; sku: string; tags: string[] },
): BatchItem<"sqlite"> {
  const { batchId, offset, codes, sku, tags } = batch;
  return ctx.db.run(sql`insert into ${accessCodes} (id, site_id, access_code, sku, type, tags, created, modified, version)
    select ${batchId.slice(0, -5)} || printf('%05x', key + ${offset}), ${ctx.siteId}, value, ${sku}, 'subscription', ${JSON.stringify(tags)},
      ${ctx.now}, ${ctx.now}, 1 from json_each(${JSON.stringify(codes)})`);
}

/** The outcome of redeeming a code. */
export interface Redemption {
  success: boolean;
  message: string;
}

/** Redeems a code for the caller, once: grants its sku, or lets the account through the login gates that name the sku. */
export async function consumeAccessCode(ctx: Ctx, typed: string, address: string): Promise<Redemption> {
  const { id: accountId } = await callerAccount(ctx);
  const code = await findWithin(ctx, guessBudgets(accountId, address, "guessAccessCode"), () => findCode(ctx, typed.trim()));
  if (!code) return { success: false, message: "This access code doesn't exist" };
  if (await wonRace(() => markConsumed(ctx, code, accountId))) return { success: true, message: `Redeemed: ${code.sku}` };
  return { success: false, message: await rejectionReason(ctx, code.id, accountId) };
}

async function findCode(ctx: Ctx, accessCode: string): Promise<AccessCodeRow | undefined> {
  const [code] = await ctx.db
    .select()
    .from(accessCodes)
    .where(and(eq(accessCodes.siteId, ctx.siteId), eq(accessCodes.accessCode, accessCode)));
  return code;
}

/** A 409 if the code is already consumed or the account already holds what it grants. */
async function markConsumed(ctx: Ctx, code: AccessCodeRow, accountId: string): Promise<void> {
  const consumed: AccessCodeRow = { ...code, accountId, consumedAt: ctx.now, modified: ctx.now, version: code.version + 1 };
  const isSubscription = code.type === "subscription";
  const alreadyHeld = isSubscription ? holdsSku(ctx, accountId, code.sku) : isBoundTo(ctx, accountId, code.sku);
  const change = ctx.db
    .update(accessCodes)
    .set(consumed)
    .where(and(ownRow(ctx, accessCodes, code.id), isNull(accessCodes.accountId), notExists(alreadyHeld)));
  const grant = planGrants(
    ctx,
    { accountId, skus: isSubscription ? [code.sku] : [], grantedMethod: "accessCode", source: `accesscode/${code.id}` },
    [],
  );
  const event: NewEvent<"accesscode.consumed"> = {
    type: "accesscode.consumed",
    resource: `accesscode/${code.id}`,
    data: { ...toAccessCodeEvent(consumed), accountId },
  };
  await rejectDuplicate(HELD_TWICE, "The account already holds this sku", () =>
    commitIfUnchanged(ctx, [change, ...grant.changes], event, ...grant.events),
  );
}

function holdsSku(ctx: Ctx, accountId: string, sku: string) {
  return ctx.db
    .select({ id: accountEntitlements.id })
    .from(accountEntitlements)
    .where(and(heldBy(ctx, accountId), eq(accountEntitlements.sku, sku)));
}

/** Selects a login code of this sku that the account has already redeemed. */
function isBoundTo(ctx: Ctx, accountId: string, sku: string) {
  const bound = alias(accessCodes, "bound");
  return ctx.db
    .select({ id: bound.id })
    .from(bound)
    .where(and(eq(bound.siteId, ctx.siteId), eq(bound.accountId, accountId), eq(bound.sku, sku), eq(bound.type, "login")));
}

async function rejectionReason(ctx: Ctx, id: string, accountId: string): Promise<string> {
  const [code] = await ctx.db
    .select({ accountId: accessCodes.accountId })
    .from(accessCodes)
    .where(ownRow(ctx, accessCodes, id));
  if (!code) return "This access code doesn't exist";
  if (code.accountId === null) return "You already have what this code grants; the code is still unused";
  return code.accountId === accountId ? "You have already redeemed this access code" : "Someone else has already used this access code";
}

function codeEvent(change: "created" | "deleted", code: AccessCodeRow): NewEvent {
  return { type: `accesscode.${change}`, resource: `accesscode/${code.id}`, data: toAccessCodeEvent(code) };
}
