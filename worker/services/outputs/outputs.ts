import { and, count, eq } from "drizzle-orm";
import { type OutputRow, outputs } from "#db/schema/streams/outputs.ts";
import { pages } from "#db/schema/pages.ts";
import { conflict, invalid, notFound } from "#worker/lib/errors.ts";
import type { Action } from "#worker/lib/roles.ts";
import { commitIfUnchanged, type Ctx, deleteRow, newRow, ownRow, requireMatch, requirePage } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { guardReferences } from "#worker/services/core/references.ts";
import { type OutputInput, toOutput } from "./schemas.ts";
import { newOutputToken } from "./tokens.ts";

const MAX_OUTPUTS = 100;

const outputList = tableList<OutputRow>({
  table: outputs,
  rows: (db, slice) => sliceOf(db.select().from(outputs).$dynamic(), slice),
  sort: { created: outputs.created },
  search: {},
});

export async function listOutputs(ctx: Ctx, channelId: string, query: ListQuery): Promise<ListPage<OutputRow>> {
  await requireChannel(ctx, channelId, "read");
  return listRows(ctx, outputList, query, eq(outputs.siteId, ctx.siteId), eq(outputs.channelId, channelId));
}

/** Creates a link to the channel's output page. Only the token's hash is stored, so it can't be shown again. */
export async function createOutput(
  ctx: Ctx,
  channelId: string,
  { name, expirationTime }: OutputInput,
): Promise<{ row: OutputRow; token: string }> {
  if (expirationTime !== null && expirationTime <= ctx.now) throw invalid("expirationTime", "Must be in the future");
  await requireChannel(ctx, channelId, "write");
  const ofChannel = and(eq(outputs.siteId, ctx.siteId), eq(outputs.channelId, channelId));
  const [existing] = await ctx.db.select({ count: count() }).from(outputs).where(ofChannel);
  if ((existing?.count ?? 0) >= MAX_OUTPUTS) throw conflict(`The channel already has the maximum of ${MAX_OUTPUTS} outputs`);
  const actor = await ctx.caller();
  const { token, hash } = await newOutputToken();
  const createdBy = actor.kind === "account" ? actor.id : null;
  const row: OutputRow = { ...newRow(ctx), channelId, name, hash, createdBy, expires: expirationTime };
  const guard = guardReferences(ctx, [{ kind: "channel", id: channelId, path: "channelId" }]);
  const event = { type: "overlay.outputCreated", resource: resourceOf(row), data: toOutput(row) } as const;
  await commitIfUnchanged(ctx, [...guard, ctx.db.insert(outputs).values(row)], event);
  return { row, token };
}

/** Revokes an output: its token is rejected from now on, and an effect of the event closes its connections. */
export async function revokeOutput(ctx: Ctx, channelId: string, id: string): Promise<void> {
  const [current] = await ctx.db
    .select()
    .from(outputs)
    .where(and(ownRow(ctx, outputs, id), eq(outputs.channelId, channelId)));
  if (!current) throw notFound("Output not found");
  await requirePage(ctx, channelId, "write");
  requireMatch(ctx, current);
  const event = { type: "overlay.outputRevoked", resource: resourceOf(current), data: toOutput(current) } as const;
  await commitIfUnchanged(ctx, deleteRow(ctx, outputs, current), event);
}

/** A 404 unless the site has the channel, and a 403 unless the caller runs it. */
async function requireChannel(ctx: Ctx, channelId: string, action: Action): Promise<void> {
  const [page] = await ctx.db
    .select({ id: pages.id })
    .from(pages)
    .where(and(ownRow(ctx, pages, channelId), eq(pages.type, "channel")));
  if (!page) throw notFound("Channel not found");
  await requirePage(ctx, channelId, action);
}

function resourceOf(row: OutputRow): string {
  return `output/${row.id}`;
}
