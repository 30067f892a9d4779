import { and, eq, isNull, notExists, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { alias } from "drizzle-orm/sqlite-core";
import { type AccessCodeRow, accessCodes, accountEntitlements } from "#db/schema/index.ts";
import { codesOf } from "#worker/lib/crypto/codes.ts";
import { fromBase64Url, randomToken } from "#worker/lib/crypto/crypto.ts";
import { wonRace, notFound, refuseDuplicate } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type AddAccessCode, type BulkInput, toAccessCodeEvent } from "./schemas.ts";
import {
  whereVersion,
  callerAccount,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  ownRow,
  requireMatch,
} from "#worker/services/core/context.ts";
import { HELD_TWICE, heldBy, planGrants } from "#worker/services/subscriptions/entitlements.ts";
import { findWithin, guessesOf } from "#worker/services/core/limits.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { commitReferencing, type Reference } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const DUPLICATE = "access_codes.site_id, access_codes.access_code";
// One statement inserts this many codes: 150 kB of JSON in one parameter.
const CODES_PER_STATEMENT = 10_000;
const CODES_PER_CHUNK = 5_000;
const SEED_BYTES = 16;

const accessCodeList: ListSpec<AccessCodeRow> = {
  table: accessCodes,
  id: { by: accessCodes.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(accessCodes).$dynamic(), slice),
  sort: {
    created: { by: accessCodes.created, of: (row) => row.created },
    modified: { by: accessCodes.modified, of: (row) => row.modified },
    sku: { by: accessCodes.sku, of: (row) => row.sku },
  },
  defaultDirection: -1,
  search: { accessCode: accessCodes.accessCode },
};

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

/** Adds a code that the site has thought of itself. */
export async function addAccessCode(ctx: Ctx, input: AddAccessCode): Promise<AccessCodeRow> {
  requireOwnSite(ctx, input.siteId);
  const { accessCode, sku, type, tags = [] } = input;
  const code: AccessCodeRow = { ...newRow(ctx), accessCode, sku, type, tags, accountId: null, consumedAt: null };
  await refuseDuplicate(DUPLICATE, "The site has this access code already", () =>
    commitReferencing(ctx, skuOf(code), ctx.db.insert(accessCodes).values(code), codeEvent("created", code)),
  );
  return code;
}

function skuOf({ sku }: { sku: string }): Reference[] {
  return [{ kind: "sku", id: sku, path: "sku" }];
}

/** Deletes a code. What it has granted stays; a login code's account is let through its gates no more. */
export async function deleteAccessCode(ctx: Ctx, id: string): Promise<AccessCodeRow> {
  const current = await getAccessCode(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(accessCodes).where(whereVersion(ctx, accessCodes, current));
  await commitIfUnchanged(ctx, change, codeEvent("deleted", current));
  return current;
}

/** Makes up to 100,000 codes, all or none, and answers the seed from which `accessCodeChunks` lists them. */
export async function createAccessCodes(ctx: Ctx, { qty, sku, tags }: BulkInput): Promise<string> {
  await ctx.caller();
  // A repeated request: the codes are there.
  if (ctx.receipt !== undefined) return ctx.receipt;
  const seed = randomToken(SEED_BYTES);
  const batchId = newId(ctx.now);
  const inserts: BatchItem<"sqlite">[] = [];
  for (let offset = 0; offset < qty; offset += CODES_PER_STATEMENT) {
    const codes = await codesOf(fromBase64Url(seed), offset, Math.min(CODES_PER_STATEMENT, qty - offset));
    inserts.push(insertCodes(ctx, { batchId, offset, codes, sku, tags }));
  }
  const event = {
    type: "accesscode.bulkCreated",
    resource: `accesscode/${batchId}`,
    data: { batchId, siteId: ctx.siteId, qty, sku, tags },
  };
  await refuseDuplicate(DUPLICATE, "One of the codes was taken by chance; try again", () =>
    commitReferencing(ctx, skuOf({ sku }), inserts, event),
  );
  ctx.receipt = seed;
  return seed;
}

/** The codes of a seed, some thousand at a time, so that however many there are none are held. */
export async function* accessCodeChunks(seed: string, qty: number): AsyncGenerator<string[]> {
  const bytes = fromBase64Url(seed);
  for (let offset = 0; offset < qty; offset += CODES_PER_CHUNK) yield codesOf(bytes, offset, Math.min(CODES_PER_CHUNK, qty - offset));
}

// An id of a batch is the batch's own with the last five characters counting, so that the rows lie side by side.
function insertCodes(
  ctx: Ctx,
  batch: { batchId: string; offset: number; codes: string[]; sku: string; tags: string[] },
): BatchItem<"sqlite"> {
  const { batchId, offset, codes, sku, tags } = batch;
  return ctx.db.run(sql`insert into ${accessCodes} (id, site_id, access_code, sku, type, tags, created, modified, version)
    select ${batchId.slice(0, -5)} || printf('%05x', key + ${offset}), ${ctx.siteId}, value, ${sku}, 'subscription', ${JSON.stringify(tags)},
      ${ctx.now}, ${ctx.now}, 1 from json_each(${JSON.stringify(codes)})`);
}

/** What became of a code that somebody typed. */
export interface Redemption {
  success: boolean;
  message: string;
}

/** Redeems a code for the caller, once: it grants its sku, or binds the account to the login gates that name it. */
export async function consumeAccessCode(ctx: Ctx, typed: string, address: string): Promise<Redemption> {
  const { id: accountId } = await callerAccount(ctx);
  const code = await findWithin(ctx, guessesOf(accountId, address, "guessAccessCode"), () => findCode(ctx, typed.trim()));
  if (!code) return { success: false, message: "There is no such access code" };
  if (await wonRace(() => spend(ctx, code, accountId))) return { success: true, message: `Redeemed: ${code.sku}` };
  return { success: false, message: await whyNot(ctx, code.id, accountId) };
}

async function findCode(ctx: Ctx, accessCode: string): Promise<AccessCodeRow | undefined> {
  const [code] = await ctx.db
    .select()
    .from(accessCodes)
    .where(and(eq(accessCodes.siteId, ctx.siteId), eq(accessCodes.accessCode, accessCode)));
  return code;
}

/** A 409 unless the code is unspent and the account has yet to hold what it grants. */
async function spend(ctx: Ctx, code: AccessCodeRow, accountId: string): Promise<void> {
  const spent: AccessCodeRow = { ...code, accountId, consumedAt: ctx.now, modified: ctx.now, version: code.version + 1 };
  const isSubscription = code.type === "subscription";
  const alreadyHeld = isSubscription ? holdsSku(ctx, accountId, code.sku) : isBoundTo(ctx, accountId, code.sku);
  const change = ctx.db
    .update(accessCodes)
    .set(spent)
    .where(and(ownRow(ctx, accessCodes, code.id), isNull(accessCodes.accountId), notExists(alreadyHeld)));
  const grant = planGrants(
    ctx,
    { accountId, skus: isSubscription ? [code.sku] : [], grantedMethod: "accessCode", source: `accesscode/${code.id}` },
    [],
  );
  const event = { type: "accesscode.consumed", resource: `accesscode/${code.id}`, data: { ...toAccessCodeEvent(spent), accountId } };
  await refuseDuplicate(HELD_TWICE, "Granted meanwhile", () => commitIfUnchanged(ctx, [change, ...grant.changes], event, ...grant.events));
}

function holdsSku(ctx: Ctx, accountId: string, sku: string) {
  return ctx.db
    .select({ id: accountEntitlements.id })
    .from(accountEntitlements)
    .where(and(heldBy(ctx, accountId), eq(accountEntitlements.sku, sku)));
}

/** A login code of this sku that has let the account through its gates already. */
function isBoundTo(ctx: Ctx, accountId: string, sku: string) {
  const bound = alias(accessCodes, "bound");
  return ctx.db
    .select({ id: bound.id })
    .from(bound)
    .where(and(eq(bound.siteId, ctx.siteId), eq(bound.accountId, accountId), eq(bound.sku, sku), eq(bound.type, "login")));
}

async function whyNot(ctx: Ctx, id: string, accountId: string): Promise<string> {
  const [code] = await ctx.db
    .select({ accountId: accessCodes.accountId })
    .from(accessCodes)
    .where(ownRow(ctx, accessCodes, id));
  if (!code) return "There is no such access code";
  if (code.accountId === null) return "You have what this code grants already; it was not used up";
  return code.accountId === accountId ? "You have redeemed this access code already" : "This access code has been used by somebody else";
}

function codeEvent(change: "created" | "deleted", code: AccessCodeRow): NewEvent {
  return { type: `accesscode.${change}`, resource: `accesscode/${code.id}`, data: toAccessCodeEvent(code) };
}
