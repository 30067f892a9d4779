import { eq } from "drizzle-orm";
import { type ApiKeyRow, apiKeys } from "#db/schema/sites.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { conflict, invalid, notFound } from "#worker/lib/errors.ts";
import { type ApiKeyInput, toApiKey } from "./api-key-schemas.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";

/** How long the previous key keeps working after a rotation, in milliseconds, so that its users can switch. */
export const OVERLAP = 24 * 60 * 60 * 1000;

const keyList = tableList<ApiKeyRow>({
  table: apiKeys,
  rows: (db, slice) => sliceOf(db.select().from(apiKeys).$dynamic(), slice),
  sort: { created: apiKeys.created, name: apiKeys.name },
  search: { name: apiKeys.name },
});

export function listApiKeys(ctx: Ctx, query: ListQuery): Promise<ListPage<ApiKeyRow>> {
  return listRows(ctx, keyList, query, eq(apiKeys.siteId, ctx.siteId));
}

/** Generates a key. Only its hash is stored, so it can't be shown again. */
export async function newKey(): Promise<{ key: string; hash: string }> {
  const key = `tifo_dev_${randomToken(24)}`;
  return { key, hash: await sha256(key) };
}

export async function createApiKey(ctx: Ctx, input: ApiKeyInput): Promise<{ row: ApiKeyRow; key: string }> {
  const { name, clientName, roles, expirationTime } = input;
  if (expirationTime !== null && expirationTime <= ctx.now) throw invalid("expirationTime", "Must be in the future");
  const actor = await ctx.caller();
  const { key, hash } = await newKey();
  const row: ApiKeyRow = {
    ...newRow(ctx),
    createdBy: actor.kind === "account" ? actor.id : null,
    hash,
    previousHash: null,
    previousExpires: null,
    name,
    clientName,
    roles,
    expires: expirationTime,
  };
  await commit(ctx, ctx.db.insert(apiKeys).values(row), { type: "site.apiKeyCreated", resource: resourceOf(row), data: toApiKey(row) });
  return { row, key };
}

/** Gives a key a new secret. The previous one works for the overlap, but no longer than the key itself; older ones stop working now. */
export async function rotateApiKey(ctx: Ctx, id: string): Promise<{ row: ApiKeyRow; key: string }> {
  const current = await getApiKey(ctx, id);
  if (current.expires !== null && current.expires <= ctx.now) throw conflict("The key has expired; create another");
  const { key, hash } = await newKey();
  const row: ApiKeyRow = {
    ...current,
    hash,
    previousHash: current.hash,
    previousExpires: Math.min(ctx.now + OVERLAP, current.expires ?? Infinity),
    ...nextVersion(ctx, current),
  };
  const change = updateRow(ctx, apiKeys, current, row);
  await commitIfUnchanged(ctx, change, { type: "site.apiKeyRotated", resource: resourceOf(row), data: toApiKey(row) });
  return { row, key };
}

/** Revokes a key and its previous secret: both are rejected with 401 from now on. */
export async function revokeApiKey(ctx: Ctx, id: string): Promise<void> {
  const current = await getApiKey(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, apiKeys, current);
  await commitIfUnchanged(ctx, change, { type: "site.apiKeyRevoked", resource: resourceOf(current), data: toApiKey(current) });
}

async function getApiKey(ctx: Ctx, id: string): Promise<ApiKeyRow> {
  const [row] = await ctx.db
    .select()
    .from(apiKeys)
    .where(ownRow(ctx, apiKeys, id));
  if (!row) throw notFound("API key not found");
  return row;
}

function resourceOf(row: ApiKeyRow): string {
  return `apikey/${row.id}`;
}
