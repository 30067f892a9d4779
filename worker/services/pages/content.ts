import { and, desc, eq, getTableColumns, or, type SQL, sql } from "drizzle-orm";
import { prepared } from "#db/prepared.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { watchTime } from "#db/schema/devices.ts";
import { type PageRow, pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { videos } from "#db/schema/videos.ts";
import { canIPlay, isLive, type PlaybackDecision, type PlaybackRequest } from "./can-i-play.ts";
import { notFound } from "#worker/lib/errors.ts";
import { managesPage } from "#worker/lib/roles.ts";
import { type Actor, batchAll, type Ctx, ownRows } from "#worker/services/core/context.ts";
import { claimDevice, selectDevices } from "./devices.ts";
import { mayPlayOn } from "#worker/services/videos/gated-videos.ts";
import { heldAt } from "#worker/services/subscriptions/entitlements.ts";
import { selectSigningKeys, signUrl } from "#worker/services/sites/playback-keys.ts";
import { recordWatching, viewerOf, watchedSeconds } from "./watch-time.ts";

/** The requested page and, unless it is the current programme, the video from its playlists or from the site's ungated ones. */
export type ContentSelector = ({ id: string } | { slug: string }) & { videoId?: string | undefined };

/** What is known about the viewer besides their identity: the country, and the device's description. */
export interface Viewer {
  country: string | undefined;
  description: string;
}

export interface Content {
  page: PageRow;
  verdict: PlaybackDecision;
  /** The video to play; null if playback is denied or there is none. */
  video: PlayableVideo | null;
  devices: { deviceId: string; description: string }[];
  deviceLimit: number;
}

type PlayedVideo = Pick<
  typeof videos.$inferSelect,
  "id" | "title" | "player" | "type" | "url" | "thumbnail" | "subscriptions" | "durationSeconds" | "playback"
>;

/** A video for the player, with a signed URL if required; without a URL if the site has no key to sign it. */
export type PlayableVideo = Pick<PlayedVideo, "id" | "title" | "player" | "type" | "thumbnail"> & {
  url: string | null;
  /** When the signed URL expires; null if it isn't signed. */
  urlExpires: number | null;
};

/**
 * Returns a page and whether this viewer may play it. One round trip; a second if the device takes a slot or a preview continues,
 * and a third if another device won the slot. Everything is read for the claimed account, but returned only if the token is valid.
 */
export async function getContent(ctx: Ctx, selector: ContentSelector, viewer: Viewer): Promise<Content> {
  const facts = await readFacts(ctx, selector);
  const actor = await ctx.caller();
  const decision = decide(ctx, facts, actor, viewer);
  const watching = isPreviewing(decision.verdict) ? [recordWatching(ctx, facts.page.id, viewerKey(ctx))] : [];
  if (actor.kind !== "account" || decision.verdict.error || holdsSlot(ctx, facts)) {
    await batchAll(ctx.db, watching);
    return withUrl(ctx, facts, decision);
  }
  const device = { deviceId: ctx.deviceId ?? "", description: viewer.description };
  const claimed = await claimDevice(ctx, actor.id, device, watching);
  // If not claimed, another request has taken the last slot, or the slot of this device.
  const devices = claimed ? [...facts.devices, device] : await selectDevices(ctx.db, ctx, actor.id);
  return withUrl(ctx, facts, decide(ctx, { ...facts, devices }, actor, viewer));
}

type Decision = Omit<Content, "video"> & { video: PlayedVideo | null; accessEnds: number | undefined };

/** Signs the video's URL if required, for as long as this viewer may play. */
async function withUrl(ctx: Ctx, { page, stream, signingKeys }: Facts, { accessEnds, ...decision }: Decision): Promise<Content> {
  if (!decision.video) return { ...decision, video: null };
  const { id, title, player, type, thumbnail, url, playback, durationSeconds } = decision.video;
  const video = { id, title, player, type, thumbnail };
  if (!playback) return { ...decision, video: { ...video, url, urlExpires: null } };
  const { previewTimeRemainingSeconds: preview } = decision.verdict;
  const scheduleEnd = stream?.isLive ? undefined : page.data.schedule?.endTimestamp;
  const ends = [preview === null ? undefined : ctx.now + preview * 1000, scheduleEnd, accessEnds];
  const signed = await signUrl(ctx.env, { url, thumbnail }, playback, signingKeys, { now: ctx.now, durationSeconds, ends });
  return { ...decision, video: { ...video, ...signed } };
}

/** The statements of `readFacts`, with the page looked up by this column. */
function factsBy(key: typeof pages.id | typeof pages.slug) {
  const own = { siteId: sql.placeholder("siteId") };
  const accountId = sql.placeholder("accountId");
  const isPage = and(eq(pages.siteId, own.siteId), eq(key, sql.placeholder("key")));
  const ofPage = (value: SQL) => sql`(select ${value} from ${pages} where ${isPage})`;
  const programmeIds = ofPage(
    sql`json_array(json_extract(${pages.data}, '$.content.live.video_id'), json_extract(${pages.data}, '$.content.offline.video_id'))`,
  );
  const videoIds = sql`json_insert(${programmeIds}, '$[#]', ${sql.placeholder("videoId")})`;
  const named = ownRows(own, videos, videoIds);
  return {
    page: prepared((db) =>
      db
        .select({ ...getTableColumns(pages), deviceLimit: sites.deviceLimit })
        .from(pages)
        .innerJoin(sites, eq(sites.id, pages.siteId))
        .where(isPage),
    ),
    held: prepared((db) =>
      db
        .select({
          sku: accountEntitlements.sku,
          until: sql<
            number | null
          >`case when ${accountEntitlements.status} = 'cancelScheduled' then ${accountEntitlements.dateEnds} end`.as("until"),
        })
        .from(accountEntitlements)
        .where(heldAt(own, accountId, sql.placeholder("now"))),
    ),
    loginCodes: prepared((db) =>
      db
        .select({ sku: accessCodes.sku })
        .from(accessCodes)
        .where(and(eq(accessCodes.siteId, own.siteId), eq(accessCodes.accountId, accountId), eq(accessCodes.type, "login"))),
    ),
    devices: prepared((db) => selectDevices(db, own, accountId)),
    watched: prepared((db) =>
      db
        .select({ seconds: watchTime.seconds, modified: watchTime.modified })
        .from(watchTime)
        .where(
          and(
            eq(watchTime.siteId, own.siteId),
            eq(watchTime.pageId, ofPage(sql`${pages.id}`)),
            eq(watchTime.viewer, sql.placeholder("viewer")),
          ),
        ),
    ),
    offered: prepared((db) =>
      db
        .select({ sku: subscriptions.sku, seconds: subscriptions.previewDurationSeconds })
        .from(subscriptions)
        .where(
          and(
            eq(subscriptions.siteId, own.siteId),
            or(
              sql`${subscriptions.sku} in (select value from json_each(${ofPage(sql`json_extract(${pages.data}, '$.gate.skus')`)}))`,
              sql`${subscriptions.sku} in (select value from ${videos}, json_each(${videos.subscriptions}) where ${named})`,
            ),
          ),
        ),
    ),
    // The live one, or else the most recently created.
    stream: prepared((db) =>
      db
        .select({
          id: streams.id,
          title: streams.title,
          playbackUrl: streams.playbackUrl,
          playback: streams.playback,
          fallbackImageUrl: streams.fallbackImageUrl,
          isLive: streams.isLive,
          liveSince: streams.liveSince,
        })
        .from(streams)
        .where(and(eq(streams.siteId, own.siteId), eq(streams.channelId, ofPage(sql`${pages.id}`))))
        .orderBy(desc(streams.isLive), desc(streams.created))
        .limit(1),
    ),
    programme: prepared((db) =>
      db
        .select({
          id: videos.id,
          title: videos.title,
          player: videos.player,
          type: videos.type,
          url: videos.url,
          thumbnail: videos.thumbnail,
          subscriptions: videos.subscriptions,
          durationSeconds: videos.durationSeconds,
          playback: videos.playback,
        })
        .from(videos)
        .where(and(named, mayPlayOn(own.siteId, ofPage(sql`${pages.id}`), sql`select value from json_each(${programmeIds})`))),
    ),
  };
}

const FACTS = { byId: factsBy(pages.id), bySlug: factsBy(pages.slug) };

type Facts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts(ctx: Ctx, selector: ContentSelector) {
  const values = {
    siteId: ctx.siteId,
    accountId: ctx.claimedAccountId ?? "",
    viewer: viewerKey(ctx),
    now: ctx.now,
    key: "id" in selector ? selector.id : selector.slug,
    videoId: selector.videoId ?? "",
  };
  const statements = "id" in selector ? FACTS.byId : FACTS.bySlug;
  const [[found], held, loginCodes, devices, [watched], offered, [stream], programme, signingKeys] = await ctx.db.batch([
    statements.page(values),
    statements.held(values),
    statements.loginCodes(values),
    statements.devices(values),
    statements.watched(values),
    statements.offered(values),
    statements.stream(values),
    statements.programme(values),
    selectSigningKeys(values),
  ]);
  if (!found) throw notFound("Page not found");
  const { videoId } = selector;
  if (videoId !== undefined && !programme.some(({ id }) => id === videoId)) throw notFound("The page doesn't show this video");
  const { deviceLimit, ...page } = found;
  const skus = { held, loginCodes: loginCodes.map(skuOf), offered };
  return { page, videoId, deviceLimit, ...skus, devices, watched, stream, programme, signingKeys };
}

function decide(ctx: Ctx, facts: Facts, actor: Actor, { country }: Viewer): Decision {
  const { page, devices, deviceLimit, stream } = facts;
  const { gate, schedule, regions = [] } = page.data;
  const video = videoOf(facts, isLive({ now: ctx.now, schedule, stream }));
  const videoSkus = video?.subscriptions ?? [];
  const best = (skus: string[]) => Math.max(0, ...facts.offered.filter(({ sku }) => skus.includes(sku)).map(({ seconds }) => seconds));
  const request: PlaybackRequest = {
    now: ctx.now,
    gate,
    schedule,
    regions,
    country,
    stream,
    videoSkus,
    signedIn: actor.kind === "account",
    manages: actor.kind === "account" && managesPage(actor.roles, page.id, "read"),
    heldSkus: facts.held.map(skuOf),
    loginSkus: facts.loginCodes,
    preview: { gate: best(gate.skus), video: best(videoSkus), used: watchedSeconds(ctx.now, facts.watched) },
    devices: { hasSlot: holdsSlot(ctx, facts), taken: devices.length, limit: deviceLimit },
  };
  const verdict = canIPlay(request);
  const accessEnds = request.manages ? undefined : endOfAccess(facts.held, [gate.type === "entitlement" ? gate.skus : [], videoSkus]);
  return { page, verdict, video: verdict.error ? null : video, devices, deviceLimit, accessEnds };
}

/** When the entitlements end that open these locks; undefined where one without an end does, or none is needed. */
function endOfAccess(held: Facts["held"], locks: string[][]): number | undefined {
  const ends = locks.map((skus) => Math.max(...held.filter(({ sku }) => skus.includes(sku)).map(({ until }) => until ?? Infinity)));
  const first = Math.min(...ends.filter(Number.isFinite));
  return Number.isFinite(first) ? first : undefined;
}

/** The requested video; by default, the live programme's video or the stream while the page is live, else the offline programme's. */
function videoOf({ page, videoId, programme, stream }: Facts, live: boolean): PlayedVideo | null {
  if (videoId !== undefined) return programme.find(({ id }) => id === videoId) ?? null;
  const { content } = page.data;
  const named = programme.find(({ id }) => id === (live ? content?.live?.video_id : content?.offline?.video_id));
  if (named) return named;
  if (!live || !stream) return null;
  const { id, title, playbackUrl: url, playback, fallbackImageUrl: thumbnail } = stream;
  return { id, title, url, playback, thumbnail, player: "tifo", type: "livestream", subscriptions: [], durationSeconds: 0 };
}

/** If the limit has been lowered, the devices that came first keep their slots. */
function holdsSlot(ctx: Ctx, { devices, deviceLimit }: Facts): boolean {
  return devices.slice(0, deviceLimit).some(({ deviceId }) => deviceId === ctx.deviceId);
}

/** A response that ends a preview also counts as watching, or the preview would restart after a pause. */
function isPreviewing({ access, error }: PlaybackDecision): boolean {
  return access === "preview" || error?.type === "preview_over";
}

function viewerKey(ctx: Ctx): string {
  return viewerOf(ctx.claimedAccountId, ctx.deviceId ?? "");
}

function skuOf({ sku }: { sku: string }): string {
  return sku;
}
