import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { type StreamProviderRow, streamProviders, type StreamRow, streams } from "#db/schema/streams/streams.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { forbidden, invalid, notFound } from "#worker/lib/errors.ts";
import { type Action, isSiteAdmin, keyAllows, managesPage } from "#worker/lib/roles.ts";
import { type StreamInput, toStreamEvent } from "./schemas.ts";
import { channelsOfCaller, type Ctx, type NewEvent, newRow, ownRow } from "#worker/services/core/context.ts";
import { idIn, type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";
import { keepDraft, createAtProvider } from "./drafts.ts";

const KEY_PURPOSE = "stream key";

const streamList = tableList<StreamRow>({
  table: streams,
  rows: (db, slice) => sliceOf(db.select().from(streams).$dynamic(), slice),
  sort: { created: streams.created, title: streams.title },
  search: { title: streams.title },
});

/** Lists streams; creators get those of their channels, and a 403 for another channel. */
export async function listStreams(ctx: Ctx, query: ListQuery & { channelId?: string; isLive?: boolean }): Promise<ListPage<StreamRow>> {
  const own = query.channelId === undefined ? await channelsOfCaller(ctx) : "all";
  const page = await listRows(
    ctx,
    streamList,
    query,
    eq(streams.siteId, ctx.siteId),
    query.channelId === undefined ? undefined : eq(streams.channelId, query.channelId),
    query.isLive === undefined ? undefined : eq(streams.isLive, query.isLive),
    own === "all" ? undefined : idIn(streams.channelId, own),
  );
  if (query.channelId !== undefined) await requireChannel(ctx, query.channelId, "read");
  return page;
}

/** One stream; its key is null for callers who may not change it. */
export async function getStream(ctx: Ctx, id: string): Promise<{ row: StreamRow; streamKey: string | null }> {
  const { stream } = await findStream(ctx, id, "read");
  const streamKey = (await mayWrite(ctx, stream)) ? await open(ctx.env, KEY_PURPOSE, stream.streamKeySealed) : null;
  return { row: stream, streamKey };
}

/** A stream with the provider that runs it, for a caller who may do this with it. */
export async function findStream(ctx: Ctx, id: string, action: Action): Promise<{ stream: StreamRow; provider: StreamProviderRow }> {
  const [[stream], [provider]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(streams)
      .where(ownRow(ctx, streams, id)),
    ctx.db
      .select()
      .from(streamProviders)
      .where(
        and(
          eq(streamProviders.siteId, ctx.siteId),
          eq(
            streamProviders.name,
            ctx.db
              .select({ name: streams.provider })
              .from(streams)
              .where(ownRow(ctx, streams, id)),
          ),
        ),
      ),
  ]);
  if (!stream || !provider) throw notFound("Stream not found");
  await requireChannel(ctx, stream.channelId, action);
  return { stream, provider };
}

/** Creates a stream at its provider, then here; a failure leaves none at either. */
export async function createStream(ctx: Ctx, input: StreamInput): Promise<{ row: StreamRow; streamKey: string }> {
  if (input.siteId !== undefined) requireOwnSite(ctx, input.siteId);
  const { title, tags, channelId = null, fallbackImageUrl = null } = input;
  const provider = await chooseProvider(ctx, input);
  const { id, siteId, ...stamps } = newRow(ctx);
  const draft = { id, siteId, title, provider: provider.name, created: ctx.now };
  const { streamKey, ...created } = await createAtProvider(ctx, draft, provider);
  const row: StreamRow = {
    ...{ id, siteId, title, tags, channelId, fallbackImageUrl, ...stamps, ...created },
    provider: provider.name,
    streamKeySealed: await sealStreamKey(ctx.env, streamKey),
    isLive: false,
    liveSince: null,
    call: null,
    callBy: null,
    callAt: null,
  };
  const event: NewEvent = { type: "stream.created", resource: `stream/${id}`, data: toStreamEvent(row) };
  const references = channelId === null ? [] : [{ kind: "channel" as const, path: "channelId", id: channelId }];
  await keepDraft(ctx, draft, provider, ctx.db.insert(streams).values(row), event, references);
  return { row, streamKey };
}

/** A stream key in its stored form. */
export function sealStreamKey(env: { TIFO_SECRET: string }, streamKey: string): Promise<string> {
  return seal(env, KEY_PURPOSE, streamKey);
}

/** The requested provider, or the site's default, or, if that has been removed, the first. Also requires that the channel belongs to the site and is managed by the caller. */
async function chooseProvider(ctx: Ctx, { provider: name, channelId }: StreamInput): Promise<StreamProviderRow> {
  const isDefault = sql`${streamProviders.name} = json_extract(${sites.settings}, '$.streamProvider')`;
  const [[provider], channels] = await ctx.db.batch([
    ctx.db
      .select(getTableColumns(streamProviders))
      .from(streamProviders)
      .innerJoin(sites, eq(sites.id, streamProviders.siteId))
      .where(and(eq(streamProviders.siteId, ctx.siteId), name === undefined ? undefined : eq(streamProviders.name, name)))
      .orderBy(desc(isDefault), streamProviders.created, streamProviders.id)
      .limit(1),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId ?? ""), eq(pages.type, "channel"))),
  ]);
  if (channelId !== undefined && channels.length === 0) throw invalid("channelId", "The site has no such channel");
  await requireChannel(ctx, channelId ?? null, "write");
  if (provider) return provider;
  throw invalid("provider", name === undefined ? "Register a stream provider first" : "No provider is registered with this name");
}

/** A 403 unless channel admins pass a channel that they manage; site admins and keys need none. */
async function requireChannel(ctx: Ctx, channelId: string | null, action: Action): Promise<void> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || isSiteAdmin(actor.roles, action)) return;
  if (channelId === null) throw forbidden("Channel admins must name a channel that they manage");
  if (!managesPage(actor.roles, channelId, action)) throw forbidden("No permission for this channel");
}

async function mayWrite(ctx: Ctx, { channelId }: StreamRow): Promise<boolean> {
  const actor = await ctx.caller();
  if (actor.kind === "developer") return keyAllows(actor.roles, "stream", "write");
  if (actor.kind !== "account") return false;
  return isSiteAdmin(actor.roles, "write") || (channelId !== null && managesPage(actor.roles, channelId, "write"));
}
