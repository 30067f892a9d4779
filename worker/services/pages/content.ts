import { and, desc, eq, getTableColumns, or, type SQL, sql } from "drizzle-orm";
import { prepared } from "#db/prepared.ts";
import {
  accessCodes,
  accountEntitlements,
  type PageRow,
  pages,
  sites,
  streams,
  subscriptions,
  videos,
  watchTime,
} from "#db/schema/index.ts";
import { canIPlay, isLive, type Verdict, type Viewing } from "./can-i-play.ts";
import { notFound } from "#worker/lib/errors.ts";
import { managesPage } from "#worker/lib/roles.ts";
import { type Actor, batchAll, type Ctx } from "#worker/services/core/context.ts";
import { claimDevice, selectDevices } from "./devices.ts";
import { mayPlayOn } from "#worker/services/videos/gated-videos.ts";
import { heldAt } from "#worker/services/subscriptions/entitlements.ts";
import { selectSigningKeys, signUrl } from "#worker/services/sites/playback-keys.ts";
import { noteWatching, viewerOf, watchedUntil } from "./watch-time.ts";

/** Which page and, where it isn't what the page shows right now, which video of its playlists or of the site's open ones. */
export type Which = ({ id: string } | { slug: string }) & { videoId?: string | undefined };

/** What is known of the viewer beside who it is: the country, and what the device calls itself. */
export interface Viewer {
  country: string | undefined;
  description: string;
}

export interface Content {
  page: PageRow;
  verdict: Verdict;
  /** What plays; null unless it may be played and there is something. */
  video: PlayableVideo | null;
  devices: { deviceId: string; description: string }[];
  deviceLimit: number;
}

type PlayedVideo = Pick<
  typeof videos.$inferSelect,
  "id" | "title" | "player" | "type" | "url" | "thumbnail" | "subscriptions" | "durationSeconds" | "playback"
>;

/** A video as its player gets it: signed where it has to be, and then without a URL if the site has no key for it. */
export type PlayableVideo = Pick<PlayedVideo, "id" | "title" | "player" | "type" | "thumbnail"> & {
  url: string | null;
  /** When the signed URL stops working; null where it isn't signed. */
  urlExpires: number | null;
};

/**
 * A page and whether this viewer may play it: one round trip, one more when the device takes a slot or a preview goes on, and a third
 * when another device was faster. All is read by the account that the token names; nothing of it comes out unless the token stands.
 */
export async function getContent(ctx: Ctx, which: Which, viewer: Viewer): Promise<Content> {
  const facts = await readFacts(ctx, which);
  const actor = await ctx.caller();
  const judged = judge(ctx, facts, actor, viewer);
  const watching = previews(judged.verdict) ? [noteWatching(ctx, facts.page.id, watcher(ctx))] : [];
  if (actor.kind !== "account" || judged.verdict.error || holdsSlot(ctx, facts)) {
    await batchAll(ctx.db, watching);
    return withUrl(ctx, facts, judged);
  }
  const device = { deviceId: ctx.deviceId ?? "", description: viewer.description };
  const claimed = await claimDevice(ctx, actor.id, device, watching);
  // Without it, another request has taken the last slot, or this device's own.
  const devices = claimed ? [...facts.devices, device] : await selectDevices(ctx.db, ctx, actor.id);
  return withUrl(ctx, facts, judge(ctx, { ...facts, devices }, actor, viewer));
}

type Judged = Omit<Content, "video"> & { video: PlayedVideo | null };

/** Signs the video's URL if it has to be, for as long as this viewer may play. */
async function withUrl(ctx: Ctx, { page, stream, signingKeys }: Facts, judged: Judged): Promise<Content> {
  if (!judged.video) return { ...judged, video: null };
  const { id, title, player, type, thumbnail, url, playback, durationSeconds } = judged.video;
  const video = { id, title, player, type, thumbnail };
  if (!playback) return { ...judged, video: { ...video, url, urlExpires: null } };
  const { previewTimeRemainingSeconds: preview } = judged.verdict;
  const scheduleEnd = stream?.isLive ? undefined : page.data.schedule?.endTimestamp;
  const ends = [preview === null ? undefined : ctx.now + preview * 1000, scheduleEnd];
  const signed = await signUrl(ctx.env, url, playback, signingKeys, { now: ctx.now, durationSeconds, ends });
  return { ...judged, video: { ...video, ...signed } };
}

/** The statements of `readFacts`, for a page that is looked for by this column. */
function factsBy(key: typeof pages.id | typeof pages.slug) {
  const own = { siteId: sql.placeholder("siteId") };
  const accountId = sql.placeholder("accountId");
  const isPage = and(eq(pages.siteId, own.siteId), eq(key, sql.placeholder("key")));
  const ofPage = (value: SQL) => sql`(select ${value} from ${pages} where ${isPage})`;
  const programmeIds = ofPage(
    sql`json_array(json_extract(${pages.data}, '$.content.live.video_id'), json_extract(${pages.data}, '$.content.offline.video_id'))`,
  );
  const videoIds = sql`json_insert(${programmeIds}, '$[#]', ${sql.placeholder("videoId")})`;
  const named = sql`${videos.siteId} = ${own.siteId} and ${videos.id} in (select value from json_each(${videoIds}))`;
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
        .select({ sku: accountEntitlements.sku })
        .from(accountEntitlements)
        .where(heldAt(own, accountId, sql.placeholder("now"))),
    ),
    passes: prepared((db) =>
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
    // The one that is on, else the last that was made.
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

async function readFacts(ctx: Ctx, which: Which) {
  const values = {
    siteId: ctx.siteId,
    accountId: ctx.claimedAccountId ?? "",
    viewer: watcher(ctx),
    now: ctx.now,
    key: "id" in which ? which.id : which.slug,
    videoId: which.videoId ?? "",
  };
  const by = "id" in which ? FACTS.byId : FACTS.bySlug;
  const [[found], held, passes, devices, [watched], offered, [stream], programme, signingKeys] = await ctx.db.batch([
    by.page(values),
    by.held(values),
    by.passes(values),
    by.devices(values),
    by.watched(values),
    by.offered(values),
    by.stream(values),
    by.programme(values),
    selectSigningKeys(values),
  ]);
  if (!found) throw notFound("Page not found");
  const { videoId } = which;
  if (videoId !== undefined && !programme.some(({ id }) => id === videoId)) throw notFound("The page shows no such video");
  const { deviceLimit, ...page } = found;
  const skus = { held: held.map(skuOf), passes: passes.map(skuOf), offered };
  return { page, videoId, deviceLimit, ...skus, devices, watched, stream, programme, signingKeys };
}

function judge(ctx: Ctx, facts: Facts, actor: Actor, { country }: Viewer): Judged {
  const { page, devices, deviceLimit, stream } = facts;
  const { gate, schedule, regions = [] } = page.data;
  const video = videoOf(facts, isLive({ now: ctx.now, schedule, stream }));
  const videoSkus = video?.subscriptions ?? [];
  const best = (skus: string[]) => Math.max(0, ...facts.offered.filter(({ sku }) => skus.includes(sku)).map(({ seconds }) => seconds));
  const viewing: Viewing = {
    now: ctx.now,
    gate,
    schedule,
    regions,
    country,
    stream,
    videoSkus,
    signedIn: actor.kind === "account",
    manages: actor.kind === "account" && managesPage(actor.roles, page.id, "read"),
    heldSkus: facts.held,
    loginSkus: facts.passes,
    preview: { gate: best(gate.skus), video: best(videoSkus), used: watchedUntil(ctx.now, facts.watched) },
    devices: { hasSlot: holdsSlot(ctx, facts), taken: devices.length, limit: deviceLimit },
  };
  const verdict = canIPlay(viewing);
  return { page, verdict, video: verdict.error ? null : video, devices, deviceLimit };
}

/** The video asked for; else, while the page is live, the live programme's video or the stream itself, and the offline programme's otherwise. */
function videoOf({ page, videoId, programme, stream }: Facts, live: boolean): PlayedVideo | null {
  if (videoId !== undefined) return programme.find(({ id }) => id === videoId) ?? null;
  const { content } = page.data;
  const named = programme.find(({ id }) => id === (live ? content?.live?.video_id : content?.offline?.video_id));
  if (named) return named;
  if (!live || !stream) return null;
  const { id, title, playbackUrl: url, playback, fallbackImageUrl: thumbnail } = stream;
  return { id, title, url, playback, thumbnail, player: "tifo", type: "livestream", subscriptions: [], durationSeconds: 0 };
}

/** Where the limit has been lowered, those that came first keep their slots. */
function holdsSlot(ctx: Ctx, { devices, deviceLimit }: Facts): boolean {
  return devices.slice(0, deviceLimit).some(({ deviceId }) => deviceId === ctx.deviceId);
}

/** The answer that ends a preview is noted too, or it would begin anew after a pause. */
function previews({ access, error }: Verdict): boolean {
  return access === "preview" || error?.type === "preview_over";
}

function watcher(ctx: Ctx): string {
  return viewerOf(ctx.claimedAccountId, ctx.deviceId ?? "");
}

function skuOf({ sku }: { sku: string }): string {
  return sku;
}
