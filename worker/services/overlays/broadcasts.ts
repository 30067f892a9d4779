import { and, eq, getTableColumns, gt, isNotNull, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { type BroadcastRow, broadcasts, overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { channelOf, orUnavailable, presenceOf } from "#worker/durable-objects/stubs.ts";
import type { Broadcast, ClearTarget } from "#worker/durable-objects/channel/channel.protocol.ts";
import { MAX_VIDEO_LATENCY_MS } from "#worker/durable-objects/relay/relay.protocol.ts";
import { Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import type { BroadcastInput } from "./schemas.ts";
import { commit, type Ctx, nudgeAgain, ownRow, requirePage } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { commitReferencing, requireReferences, type Reference } from "#worker/services/core/references.ts";
import { segmentsJson } from "#worker/services/segments/membership.ts";
import { buildBroadcast } from "./build-broadcast.ts";
import { requireGraphicData } from "#worker/services/graphics/elements.ts";
import { newPollsOf } from "./kit/variables.ts";
import { listedChannels, requireVariables } from "./overlays.ts";

/** The channel id of a site-wide broadcast's row. */
export const SITE_WIDE = "";

// The site log delivers what is committed but can't be sent now.
export const LATE = "The request was accepted, but a channel did not respond; it will be delivered as soon as the channel is available";

const NOT_LISTED = "The overlay can only be shown on its own channels, and this isn't one of them";

/** A broadcast's position in a channel's log. */
export interface SentBroadcast {
  broadcastId: string;
  channelId: string;
  seq: number;
  startsAt: number;
  endsAt: number;
}

/** The data of a broadcast's event: enough to send it again if the request fails between commit and delivery. */
export interface BroadcastEvent {
  /** Null for every channel of the site. */
  channelIds: string[] | null;
  broadcast: Broadcast;
}

/** The data of a clear's event. */
export interface ClearEvent {
  clearId: string;
  channelIds: string[] | null;
  target: ClearTarget;
}

/** What to clear: one broadcast or all, on one channel or everywhere. */
export interface ClearRequest {
  channelId?: string;
  broadcastId?: string;
}

export interface ClearedBroadcasts {
  channelId: string;
  seq: number;
  broadcastIds: string[];
}

/**
 * Shows an overlay on the channels that the request lists or matches by metadata, else on those an instance lists, else site-wide.
 * An instance that lists channels is never shown on others. The broadcast is committed first, then sent to the channels.
 */
export async function broadcastOverlay(
  ctx: Ctx,
  overlayId: string,
  input: BroadcastInput,
  broadcastId = newId(ctx.now),
  options: PlanOptions = {},
): Promise<{ broadcastId: string; broadcasts: SentBroadcast[] }> {
  const { event, references } = await planBroadcast(ctx, overlayId, input, broadcastId, options);
  const eventIds = await commitReferencing(ctx, references, insertRows(ctx, event), {
    type: "overlay.broadcast",
    resource: `overlay/${overlayId}`,
    data: { ...event },
  });
  const sent = await orUnavailable(sendBroadcast(ctx.env, ctx.siteId, event), LATE);
  ctx.emitted.completedEventIds.push(...eventIds);
  return { broadcastId, broadcasts: sent };
}

interface PlanOptions {
  /** Of several channels, those that exist suffice: when it was requested, all did. */
  skipsMissing?: boolean;
}

/** What a request would broadcast, where, and the references that the commit checks; throws if it is invalid or the caller has no right to it. */
async function planBroadcast(
  ctx: Ctx,
  overlayId: string,
  input: BroadcastInput,
  broadcastId: string,
  { skipsMissing = false }: PlanOptions = {},
): Promise<{ event: BroadcastEvent; references: Reference[] }> {
  const named = namedChannels(input);
  const [[row], found] = await ctx.db.batch([
    ctx.db
      .select({ ...getTableColumns(overlays), hasSegment: hasSegment(ctx.siteId, input.segment) })
      .from(overlays)
      .where(ownRow(ctx, overlays, overlayId)),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(eq(pages.siteId, ctx.siteId), eq(pages.type, "channel"), channelFilter(overlayId, named, input))),
  ]);
  if (!row) throw notFound("Overlay Not Found");
  const { hasSegment: isKnownSegment, ...overlay } = row;
  if (!isKnownSegment) throw invalid("segment", "The site has no segment with this slug");
  if (named && found.length < (skipsMissing ? 1 : named.length)) throw notFound("Channel not found");
  const listed = listedChannels(overlay);
  requireListed(listed, named, input);
  const siteWide = !named && input.pageMetadata === undefined && listed.length === 0;
  const matching = named || listed.length === 0 ? found : found.filter(({ id }) => listed.includes(id));
  const channelIds = siteWide ? null : matching.map((page) => page.id);
  await requireChannels(ctx, channelIds);
  requireVariables(overlay.contents, input.variables ?? {});
  await requireGraphicData(overlay.contents, input.variables ?? {}, input.actions ?? []);
  const tags = input.tagId === undefined ? undefined : [input.tagId];
  const broadcast = buildBroadcast(broadcastId, ctx.now, overlay, { ...input, tags, userSegment: input.segment });
  const polls = newPollsOf(broadcast, overlay.contents);
  return {
    event: { channelIds, broadcast },
    references: polls.map((id) => ({ kind: "poll", id, path: "variables.pollId" })),
  };
}

/** The broadcast that a request would send. Throws if it is invalid or the caller has no right to it. */
export async function previewBroadcast(ctx: Ctx, overlayId: string, input: BroadcastInput, broadcastId: string): Promise<Broadcast> {
  const { event, references } = await planBroadcast(ctx, overlayId, input, broadcastId);
  await requireReferences(ctx, references);
  return event.broadcast;
}

/**
 * The channels of a broadcast that isn't sent yet, null for the whole site, and what must exist when it is stored. Throws if the request
 * is invalid or the caller has no right to it.
 */
export async function checkBroadcast(
  ctx: Ctx,
  overlayId: string,
  input: BroadcastInput,
  broadcastId: string,
): Promise<{ channelIds: string[] | null; references: Reference[] }> {
  const { event, references } = await planBroadcast(ctx, overlayId, input, broadcastId);
  const path = input.channelId === undefined ? "channelIds" : "channelId";
  const channels = (namedChannels(input) ?? []).map((id): Reference => ({ kind: "channel", id, path }));
  const segments = input.segment === undefined ? [] : [{ kind: "segment" as const, id: input.segment, path: "segment" }];
  return { channelIds: event.channelIds, references: [...references, ...channels, ...segments] };
}

/** Sends a committed broadcast to its channels. Idempotent: each channel publishes it once. */
export async function sendBroadcast(env: Env, siteId: string, { channelIds, broadcast }: BroadcastEvent): Promise<SentBroadcast[]> {
  const { broadcastId } = broadcast;
  if (!channelIds) return (await presenceOf(env, siteId).publish(broadcast)).map((sent) => ({ broadcastId, ...sent }));
  return Promise.all(
    channelIds.map(async (channelId) => {
      const { seq, startsAt, endsAt } = await channelOf(env, siteId, channelId).publish(broadcast);
      return { broadcastId, channelId, seq, startsAt, endsAt };
    }),
  );
}

/** What the event of a broadcast says if the log must not have its texts. Whoever sends it also guarantees its delivery. */
export function withoutTexts(broadcast: Broadcast): Broadcast {
  return broadcast.personal ? { ...broadcast, contents: [], variables: {} } : broadcast;
}

/** Sends a delayed broadcast, except to the channels where it has been cleared since. */
export async function sendUncleared(env: Env, siteId: string, { channelIds, broadcast }: BroadcastEvent): Promise<void> {
  // One `withoutTexts`: every other broadcast has contents.
  if (broadcast.contents.length === 0) return;
  const rows = await siteDb(env, siteId)
    .select({ channelId: broadcasts.channelId })
    .from(broadcasts)
    .where(and(eq(broadcasts.siteId, siteId), eq(broadcasts.id, broadcast.broadcastId), isNull(broadcasts.clearedAt)));
  const uncleared = new Set(rows.map(({ channelId }) => channelId));
  if (channelIds || uncleared.has(SITE_WIDE))
    await sendBroadcast(env, siteId, { channelIds: channelIds?.filter((channelId) => uncleared.has(channelId)) ?? null, broadcast });
}

/** Removes broadcasts from viewers' screens before they end. */
export async function clearBroadcasts(ctx: Ctx, { channelId, broadcastId }: ClearRequest): Promise<ClearedBroadcasts[]> {
  const [rows, [channel]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(broadcasts)
      .where(and(isClearable(ctx), broadcastId === undefined ? undefined : eq(broadcasts.id, broadcastId))),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId ?? ""), eq(pages.type, "channel"))),
  ]);
  if (channelId !== undefined && !channel) throw notFound("Channel not found");
  const clearable = rows.filter((row) => channelId === undefined || row.channelId === channelId || row.channelId === SITE_WIDE);
  if (broadcastId !== undefined && clearable.length === 0) throw nudgeAgain(ctx, notFound("No active broadcast with this id"));
  const event: ClearEvent = {
    clearId: newId(ctx.now),
    channelIds: clearedChannels(rows, channelId, broadcastId),
    target: broadcastId === undefined ? { all: true, broadcastIds: idsOf(clearable) } : { broadcastIds: [broadcastId] },
  };
  const resource = channelId === undefined ? `site/${ctx.siteId}` : `page/${channelId}`;
  const eventIds = await commit(ctx, markCleared(ctx, channelId, broadcastId), { type: "overlay.cleared", resource, data: { ...event } });
  const cleared = await orUnavailable(sendClear(ctx.env, ctx.siteId, event), LATE);
  ctx.emitted.completedEventIds.push(...eventIds);
  return cleared;
}

/** Sends a committed clear to its channels. Idempotent. */
export async function sendClear(env: Env, siteId: string, { clearId, channelIds, target }: ClearEvent): Promise<ClearedBroadcasts[]> {
  if (!channelIds) return presenceOf(env, siteId).clear({ id: clearId, target });
  return Promise.all(
    channelIds.map(async (channelId) => {
      const cleared = await channelOf(env, siteId, channelId).clear({ id: clearId, target });
      return { channelId, ...cleared };
    }),
  );
}

/** A broadcast; a site-wide one with the channels on which it was cleared. */
export type ListedBroadcast = BroadcastRow & { except: string[] };

const ChannelIds = z.array(z.string());
const broadcastKey = sql<string>`${broadcasts.id} || ${broadcasts.channelId}`;
// Plain SQL, because drizzle omits the table name in single-table selects, and the columns would resolve to the inner table.
const clearedOn =
  sql`(select json_group_array(cleared.channel_id) from broadcasts as cleared where cleared.id = broadcasts.id and broadcasts.channel_id = '' and cleared.channel_id <> '')`
    .mapWith((text: string) => ChannelIds.parse(JSON.parse(text)))
    .as("except");

const broadcastList: ListSpec<ListedBroadcast> = {
  table: broadcasts,
  id: { by: broadcastKey, of: (row) => row.id + row.channelId },
  rows: (db, slice) =>
    sliceOf(
      db
        .select({ ...getTableColumns(broadcasts), except: clearedOn })
        .from(broadcasts)
        .$dynamic(),
      slice,
    ),
  sort: { startsAt: { by: broadcasts.startsAt, of: (row) => row.startsAt }, endsAt: { by: broadcasts.endsAt, of: (row) => row.endsAt } },
  defaultDirection: -1,
  search: {},
};

/** Lists active and upcoming broadcasts; for one channel, including site-wide ones. */
export function listBroadcasts(ctx: Ctx, query: ListQuery & { channelId?: string }): Promise<ListPage<ListedBroadcast>> {
  const { channelId } = query;
  const clearedHere = sql`exists (select 1 from broadcasts as cleared where cleared.id = ${broadcasts.id} and cleared.channel_id = ${channelId ?? ""} and cleared.cleared_at is not null)`;
  const ofChannel = or(eq(broadcasts.channelId, channelId ?? ""), and(eq(broadcasts.channelId, SITE_WIDE), sql`not ${clearedHere}`));
  return listRows(ctx, broadcastList, query, isActive(ctx), channelId === undefined ? undefined : ofChannel);
}

/** Deletes the rows of broadcasts that ended more than a day ago. */
export async function pruneBroadcasts(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(broadcasts).where(lt(broadcasts.endsAt, ctx.now - 24 * 60 * 60 * 1000));
}

function namedChannels({ channelId, channelIds }: BroadcastInput): string[] | undefined {
  if (channelId !== undefined && channelIds) throw invalid("channelIds", "Specify either channelId or channelIds, not both");
  return channelId === undefined ? channelIds && [...new Set(channelIds)] : [channelId];
}

/** The channels that the request selects, or by default those of the instance. */
function channelFilter(overlayId: string, named: string[] | undefined, { pageMetadata }: BroadcastInput): SQL | undefined {
  const matches =
    pageMetadata === undefined
      ? undefined
      : or(...[1, 2, 3, 4, 5].map((field) => sql`json_extract(${pages.data}, ${`$.external_field_${field}`}) = ${pageMetadata}`));
  const requested = named && sql`${pages.id} in (select value from json_each(${JSON.stringify(named)}))`;
  if (matches || requested) return and(requested, matches);
  return sql`${pages.id} in (select channel.value from ${overlays}, json_each(${overlays.contents}) as content, json_each(content.value, '$.channels') as channel where ${overlays.id} = ${overlayId} and ${overlays.type} = 'instance')`;
}

/** Whether the site has this segment; true if none is requested. */
function hasSegment(siteId: string, slug: string | undefined): SQL.Aliased<number> {
  if (slug === undefined) return sql<number>`1`.as("has_segment");
  return sql<number>`exists (select 1 from json_each(${segmentsJson(siteId)}) where key = ${slug})`.as("has_segment");
}

/** Rejects every requested channel that an instance with its own channels doesn't list. */
function requireListed(listed: string[], named: string[] | undefined, { channelId }: BroadcastInput): void {
  if (!named || listed.length === 0) return;
  const issues = named.flatMap((id, index) =>
    listed.includes(id) ? [] : [{ path: channelId === undefined ? `channelIds.${index}` : "channelId", message: NOT_LISTED }],
  );
  if (issues.length > 0) throw new Failure("invalid_request", NOT_LISTED, { issues });
}

/** A creator must select channels and have rights to each; only admins may address the whole site. */
async function requireChannels(ctx: Ctx, channelIds: string[] | null): Promise<void> {
  if (channelIds) {
    for (const channelId of channelIds) await requirePage(ctx, channelId, "write");
    return;
  }
  const actor = await ctx.caller();
  if (actor.kind === "account" && !isSiteAdmin(actor.roles, "write")) throw invalid("channelId", "Required for creators");
}

/** Not yet ended and not cleared. */
function isActive(ctx: Ctx): SQL | undefined {
  return and(eq(broadcasts.siteId, ctx.siteId), gt(broadcasts.endsAt, ctx.now), isNull(broadcasts.clearedAt));
}

/** May still be shown to a viewer whose playback is behind. */
function isClearable(ctx: Ctx): SQL | undefined {
  const { siteId, endsAt, timecode, clearedAt } = broadcasts;
  const mayBePending = or(gt(endsAt, ctx.now), isNotNull(timecode));
  return and(eq(siteId, ctx.siteId), gt(endsAt, ctx.now - MAX_VIDEO_LATENCY_MS), mayBePending, isNull(clearedAt));
}

/** Inserts the rows of a broadcast in one statement with few parameters, however many channels. Columns are in table order. */
export function insertRows(ctx: Ctx, { channelIds, broadcast }: BroadcastEvent) {
  const { broadcastId, overlayId, segment, userSegment, timecode, startsAt, endsAt } = broadcast;
  const polls = newPollsOf(broadcast, []);
  return ctx.db
    .insert(broadcasts)
    .select(
      sql`select ${broadcastId}, value, ${ctx.siteId}, ${overlayId}, ${segment?.tags.join(",") ?? null}, ${timecode ?? null}, ${startsAt}, ${endsAt}, null, ${userSegment ?? null}, ${polls.length === 0 ? null : JSON.stringify(polls)} from json_each(${JSON.stringify(channelIds ?? [SITE_WIDE])}) where true`,
    )
    .onConflictDoNothing();
}

function idsOf(rows: BroadcastRow[]): string[] {
  return [...new Set(rows.map((row) => row.id))];
}

/** Null for the whole site: if everything is cleared everywhere, or the broadcast is site-wide. */
function clearedChannels(rows: BroadcastRow[], channelId: string | undefined, broadcastId: string | undefined): string[] | null {
  if (channelId !== undefined) return [channelId];
  if (broadcastId === undefined || rows.some((row) => row.channelId === SITE_WIDE)) return null;
  return rows.map((row) => row.channelId);
}

/** A site-wide broadcast that is cleared on one channel stays active on the others: the channel gets its own, cleared row. */
export function markCleared(ctx: Ctx, channelId: string | undefined, broadcastId: string | undefined) {
  const chosen = and(isClearable(ctx), broadcastId === undefined ? undefined : eq(broadcasts.id, broadcastId));
  const cleared = { clearedAt: ctx.now };
  if (channelId === undefined) return ctx.db.update(broadcasts).set(cleared).where(chosen);
  return [
    ctx.db
      .insert(broadcasts)
      .select(
        sql`select id, ${channelId}, site_id, overlay_id, tag, timecode, starts_at, ends_at, ${ctx.now}, segment, polls from ${broadcasts} where ${and(chosen, eq(broadcasts.channelId, SITE_WIDE))}`,
      )
      .onConflictDoNothing(),
    ctx.db
      .update(broadcasts)
      .set(cleared)
      .where(and(chosen, eq(broadcasts.channelId, channelId))),
  ];
}
