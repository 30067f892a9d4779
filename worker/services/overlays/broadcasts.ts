import { and, eq, getTableColumns, gt, isNotNull, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { type BroadcastRow, broadcasts, type OverlayRow, overlays, pages } from "#db/schema/index.ts";
import type { Broadcast, ClearTarget } from "#worker/durable-objects/channel/channel.protocol.ts";
import { MAX_VIDEO_LATENCY_MS } from "#worker/durable-objects/relay/relay.protocol.ts";
import { Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import { renderVariables } from "#worker/lib/handlebars/template.ts";
import type { BroadcastInput } from "./schemas.ts";
import { commit, type Ctx, ownRow, requirePage } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { requireVariables, withRiveUrls } from "./overlays.ts";
import { channelOf, presenceOf } from "#worker/services/realtime/realtime.ts";

/** What a broadcast may come to as JSON, in bytes of UTF-8: it goes to every viewer, and is kept with the log. */
export const MAX_BROADCAST = 131_072;

/** Stands for every channel of the site in the row of a broadcast. */
export const SITE_WIDE = "";

const NOT_LISTED = "The overlay has channels of its own, and this one isn't among them";

/** Where a broadcast stands in a channel's log. */
export interface Sent {
  broadcastId: string;
  channelId: string;
  seq: number;
  startsAt: number;
  endsAt: number;
}

/** What the event of a broadcast holds: enough to send it again, should the request die between commit and sending. */
export interface BroadcastEvent {
  /** Null: every channel of the site. */
  channelIds: string[] | null;
  broadcast: Broadcast;
}

/** What the event of a clear holds. */
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

export interface Cleared {
  channelId: string;
  seq: number;
  broadcastIds: string[];
}

/**
 * Shows an overlay on the channels that the request names or matches by metadata, else on those that an instance lists, else site-wide.
 * An instance that lists channels is shown on no others. Committed first, then sent; the answer says where it stands in each channel's log.
 */
export async function broadcastOverlay(
  ctx: Ctx,
  overlayId: string,
  input: BroadcastInput,
): Promise<{ broadcastId: string; broadcasts: Sent[] }> {
  const named = namedChannels(input);
  const [[overlay], found] = await ctx.db.batch([
    ctx.db
      .select()
      .from(overlays)
      .where(ownRow(ctx, overlays, overlayId)),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(eq(pages.siteId, ctx.siteId), eq(pages.type, "channel"), channelFilter(overlayId, named, input))),
  ]);
  if (!overlay) throw notFound("Overlay Not Found");
  if (named && found.length < named.length) throw notFound("Channel not found");
  const listed = listedChannels(overlay);
  requireListed(listed, named, input);
  const siteWide = !named && input.pageMetadata === undefined && listed.length === 0;
  const matching = named || listed.length === 0 ? found : found.filter(({ id }) => listed.includes(id));
  const channelIds = siteWide ? null : matching.map((page) => page.id);
  await requireChannels(ctx, channelIds);
  requireVariables(overlay.contents, input.variables ?? {});
  const tags = input.tagId === undefined ? undefined : [input.tagId];
  const broadcast = makeBroadcast(newId(ctx.now), ctx.now, overlay, { ...input, tags });
  const event: BroadcastEvent = { channelIds, broadcast };
  const eventIds = await commit(ctx, insertRows(ctx, event), {
    type: "overlay.broadcast",
    resource: `overlay/${overlayId}`,
    data: { ...event },
  });
  const sent = await orUnavailable(sendBroadcast(ctx.env, ctx.siteId, event));
  ctx.emitted.completedEventIds.push(...eventIds);
  return { broadcastId: broadcast.broadcastId, broadcasts: sent };
}

/** What is committed is brought to its channels by the site's log if it can't be now; the caller hears that it is late. */
async function orUnavailable<T>(sending: Promise<T>): Promise<T> {
  try {
    return await sending;
  } catch (cause) {
    throw new Failure("unavailable", "It is recorded, but a channel did not answer; it follows as soon as the channel does", { cause });
  }
}

/** Brings a committed broadcast to its channels; safe to repeat, each channel takes it once. */
export async function sendBroadcast(env: Env, siteId: string, { channelIds, broadcast }: BroadcastEvent): Promise<Sent[]> {
  const { broadcastId } = broadcast;
  if (!channelIds) return (await presenceOf(env, siteId).publish(broadcast)).map((sent) => ({ broadcastId, ...sent }));
  return Promise.all(
    channelIds.map(async (channelId) => {
      const { seq, startsAt, endsAt } = await channelOf(env, siteId, channelId).publish(broadcast);
      return { broadcastId, channelId, seq, startsAt, endsAt };
    }),
  );
}

/** The same for one that could not be brought at once: not to where it has been cleared since. */
export async function sendUncleared(env: Env, siteId: string, { channelIds, broadcast }: BroadcastEvent): Promise<void> {
  const rows = await createDb(env.DB)
    .select({ channelId: broadcasts.channelId })
    .from(broadcasts)
    .where(and(eq(broadcasts.siteId, siteId), eq(broadcasts.id, broadcast.broadcastId), isNull(broadcasts.clearedAt)));
  const left = new Set(rows.map(({ channelId }) => channelId));
  if (channelIds || left.has(SITE_WIDE))
    await sendBroadcast(env, siteId, { channelIds: channelIds?.filter((channelId) => left.has(channelId)) ?? null, broadcast });
}

/** Takes broadcasts off the screens before their time. */
export async function clearBroadcasts(ctx: Ctx, { channelId, broadcastId }: ClearRequest): Promise<Cleared[]> {
  const [rows, [channel]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(broadcasts)
      .where(and(isOffered(ctx), broadcastId === undefined ? undefined : eq(broadcasts.id, broadcastId))),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId ?? ""), eq(pages.type, "channel"))),
  ]);
  if (channelId !== undefined && !channel) throw notFound("Channel not found");
  const offered = rows.filter((row) => channelId === undefined || row.channelId === channelId || row.channelId === SITE_WIDE);
  if (broadcastId !== undefined && offered.length === 0) throw notFound("No such broadcast is on");
  const event: ClearEvent = {
    clearId: newId(ctx.now),
    channelIds: clearedChannels(rows, channelId, broadcastId),
    target: broadcastId === undefined ? { all: true, broadcastIds: idsOf(offered) } : { broadcastIds: [broadcastId] },
  };
  const resource = channelId === undefined ? `site/${ctx.siteId}` : `page/${channelId}`;
  const eventIds = await commit(ctx, markCleared(ctx, channelId, broadcastId), { type: "overlay.cleared", resource, data: { ...event } });
  const cleared = await orUnavailable(sendClear(ctx.env, ctx.siteId, event));
  ctx.emitted.completedEventIds.push(...eventIds);
  return cleared;
}

/** Brings a committed clear to its channels; safe to repeat. */
export async function sendClear(env: Env, siteId: string, { clearId, channelIds, target }: ClearEvent): Promise<Cleared[]> {
  if (!channelIds) return presenceOf(env, siteId).clear({ id: clearId, target });
  return Promise.all(
    channelIds.map(async (channelId) => {
      const cleared = await channelOf(env, siteId, channelId).clear({ id: clearId, target });
      return { channelId, ...cleared };
    }),
  );
}

/** A broadcast with the channels of a site-wide one that have been cleared. */
export type ListedBroadcast = BroadcastRow & { except: string[] };

const ChannelIds = z.array(z.string());
const broadcastKey = sql<string>`${broadcasts.id} || ${broadcasts.channelId}`;
// In a select of one table drizzle leaves the table's name off columns, which would then be those of the inner one: so in plain text.
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

/** What is on now, or will still be shown; of one channel, with what the whole site has. */
export function listBroadcasts(ctx: Ctx, query: ListQuery & { channelId?: string }): Promise<ListPage<ListedBroadcast>> {
  const { channelId } = query;
  const clearedHere = sql`exists (select 1 from broadcasts as cleared where cleared.id = ${broadcasts.id} and cleared.channel_id = ${channelId ?? ""} and cleared.cleared_at is not null)`;
  const ofChannel = or(eq(broadcasts.channelId, channelId ?? ""), and(eq(broadcasts.channelId, SITE_WIDE), sql`not ${clearedHere}`));
  return listRows(ctx, broadcastList, query, isOn(ctx), channelId === undefined ? undefined : ofChannel);
}

/** Deletes the record of broadcasts that ended a day ago. */
export async function pruneBroadcasts(ctx: Pick<Ctx, "db" | "now">): Promise<void> {
  await ctx.db.delete(broadcasts).where(lt(broadcasts.endsAt, ctx.now - 24 * 60 * 60 * 1000));
}

function namedChannels({ channelId, channelIds }: BroadcastInput): string[] | undefined {
  if (channelId !== undefined && channelIds) throw invalid("channelIds", "Give channelId or channelIds, not both");
  return channelId === undefined ? channelIds && [...new Set(channelIds)] : [channelId];
}

/** The channels that the request or, without one, the instance asks for. */
function channelFilter(overlayId: string, named: string[] | undefined, { pageMetadata }: BroadcastInput): SQL | undefined {
  const matches =
    pageMetadata === undefined
      ? undefined
      : or(...[1, 2, 3, 4, 5].map((field) => sql`json_extract(${pages.data}, ${`$.external_field_${field}`}) = ${pageMetadata}`));
  const wanted = named && sql`${pages.id} in (select value from json_each(${JSON.stringify(named)}))`;
  if (matches || wanted) return and(wanted, matches);
  return sql`${pages.id} in (select channel.value from ${overlays}, json_each(${overlays.contents}) as content, json_each(content.value, '$.channels') as channel where ${overlays.id} = ${overlayId} and ${overlays.type} = 'instance')`;
}

function listedChannels(overlay: OverlayRow): string[] {
  return overlay.type === "instance"
    ? overlay.contents.flatMap((content) => (content.kind === "html" ? (content.channels ?? []) : []))
    : [];
}

/** A 400 for every named channel that an instance with channels of its own doesn't list. */
function requireListed(listed: string[], named: string[] | undefined, { channelId }: BroadcastInput): void {
  if (!named || listed.length === 0) return;
  const issues = named.flatMap((id, index) =>
    listed.includes(id) ? [] : [{ path: channelId === undefined ? `channelIds.${index}` : "channelId", message: NOT_LISTED }],
  );
  if (issues.length > 0) throw new Failure("invalid_request", NOT_LISTED, { issues });
}

/** A creator needs channels, and rights to each; the whole site is for admins. */
async function requireChannels(ctx: Ctx, channelIds: string[] | null): Promise<void> {
  if (channelIds) {
    for (const channelId of channelIds) await requirePage(ctx, channelId, "write");
    return;
  }
  const actor = await ctx.caller();
  if (actor.kind === "account" && !isSiteAdmin(actor.roles, "write")) throw invalid("channelId", "Required of channel admins");
}

/** What a broadcast says, whoever sends it. */
export type BroadcastContent = Pick<BroadcastInput, "duration" | "variables" | "timecode" | "priority" | "broadcastPayload"> & {
  tags?: string[] | undefined;
};

/** The broadcast of an overlay that begins at `startsAt` (ms). Throws where its variables would make it too large. */
export function makeBroadcast(broadcastId: string, startsAt: number, overlay: OverlayRow, input: BroadcastContent): Broadcast {
  const [first] = overlay.contents;
  const variables = { ...first?.variables, ...input.variables };
  const broadcast: Broadcast = {
    broadcastId,
    overlayId: overlay.id,
    startsAt,
    endsAt: startsAt + (input.duration ?? overlay.duration) * 1000,
    position: first?.position ?? "center",
    contents: withRiveUrls(overlay.contents).map((content) => {
      const values = { ...content.variables, ...input.variables };
      return content.kind === "html"
        ? { kind: content.kind, html: render(content.html, values), position: content.position }
        : { kind: content.kind, mediaId: content.mediaId, fileName: content.fileName, url: content.url, position: content.position };
    }),
    cta: overlay.cta,
    variables,
    priority: input.priority,
    timecode: input.timecode,
    segment: input.tags && { tags: input.tags },
    broadcastPayload: input.broadcastPayload,
  };
  if (new TextEncoder().encode(JSON.stringify(broadcast)).byteLength > MAX_BROADCAST) throw tooLarge();
  return broadcast;
}

function render(html: string, variables: Broadcast["variables"]): string {
  const rendered = renderVariables(html, variables, MAX_BROADCAST);
  if (rendered === null) throw tooLarge();
  return rendered;
}

function tooLarge(): Failure {
  return invalid("variables", "With its variables filled in, the broadcast is larger than 128 kB");
}

/** Still to be seen, and not cleared. */
function isOn(ctx: Ctx): SQL | undefined {
  return and(eq(broadcasts.siteId, ctx.siteId), gt(broadcasts.endsAt, ctx.now), isNull(broadcasts.clearedAt));
}

/** Still to be seen by somebody, whose picture may be behind. */
function isOffered(ctx: Ctx): SQL | undefined {
  const { siteId, endsAt, timecode, clearedAt } = broadcasts;
  const waits = or(gt(endsAt, ctx.now), isNotNull(timecode));
  return and(eq(siteId, ctx.siteId), gt(endsAt, ctx.now - MAX_VIDEO_LATENCY_MS), waits, isNull(clearedAt));
}

/** The rows of a broadcast that has none yet: one statement with few parameters, however many channels; the columns stand in the table's order. */
export function insertRows(ctx: Ctx, { channelIds, broadcast }: BroadcastEvent) {
  const { broadcastId, overlayId, segment, timecode, startsAt, endsAt } = broadcast;
  return ctx.db
    .insert(broadcasts)
    .select(
      sql`select ${broadcastId}, value, ${ctx.siteId}, ${overlayId}, ${segment?.tags.join(",") ?? null}, ${timecode ?? null}, ${startsAt}, ${endsAt}, null from json_each(${JSON.stringify(channelIds ?? [SITE_WIDE])}) where true`,
    )
    .onConflictDoNothing();
}

function idsOf(rows: BroadcastRow[]): string[] {
  return [...new Set(rows.map((row) => row.id))];
}

/** Null for the whole site: when everything is cleared everywhere, or one broadcast that is everywhere. */
function clearedChannels(rows: BroadcastRow[], channelId: string | undefined, broadcastId: string | undefined): string[] | null {
  if (channelId !== undefined) return [channelId];
  if (broadcastId === undefined || rows.some((row) => row.channelId === SITE_WIDE)) return null;
  return rows.map((row) => row.channelId);
}

/** On one channel, a site-wide broadcast stays on for the others: the channel gets a row of its own that says it is cleared. */
function markCleared(ctx: Ctx, channelId: string | undefined, broadcastId: string | undefined) {
  const chosen = and(isOffered(ctx), broadcastId === undefined ? undefined : eq(broadcasts.id, broadcastId));
  const cleared = { clearedAt: ctx.now };
  if (channelId === undefined) return ctx.db.update(broadcasts).set(cleared).where(chosen);
  return [
    ctx.db
      .insert(broadcasts)
      .select(
        sql`select id, ${channelId}, site_id, overlay_id, tag, timecode, starts_at, ends_at, ${ctx.now} from ${broadcasts} where ${and(chosen, eq(broadcasts.channelId, SITE_WIDE))}`,
      )
      .onConflictDoNothing(),
    ctx.db
      .update(broadcasts)
      .set(cleared)
      .where(and(chosen, eq(broadcasts.channelId, channelId))),
  ];
}
