import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import { accessCodes, accountEntitlements, pages, sites, streams, subscriptions, watchTime } from "../../db/schema/index.ts";
import { canIPlay, type Verdict, type Viewing } from "../lib/can-i-play.ts";
import { notFound } from "../lib/errors.ts";
import { managesPage } from "../lib/roles.ts";
import type { PageRow } from "../routes/pages/schemas.ts";
import type { Actor, Ctx } from "./context.ts";
import { claimDevice, selectDevices } from "./devices.ts";
import { heldBy } from "./entitlements.ts";
import { viewerOf } from "./watch-time.ts";

/** What is known of the viewer beside who it is: the country, and what the device calls itself. */
export interface Viewer {
  country: string | undefined;
  description: string;
}

export interface Content {
  page: PageRow;
  verdict: Verdict;
  /** What plays; null unless it may be played and is on. */
  stream: ChannelStream | null;
  devices: { deviceId: string; description: string }[];
  deviceLimit: number;
}

type ChannelStream = Pick<typeof streams.$inferSelect, "id" | "title" | "playbackUrl" | "fallbackImageUrl" | "isLive" | "liveSince">;

/**
 * A page and whether this viewer may play it: one round trip, and one more when the device takes a slot. All is read by the account that
 * the token names; nothing of it comes out unless the token stands.
 */
export async function getContent(ctx: Ctx, which: { id: string } | { slug: string }, viewer: Viewer): Promise<Content> {
  const facts = await readFacts(ctx, which);
  const actor = await ctx.caller();
  const viewing = viewingOf(ctx, facts, actor, viewer);
  const verdict = canIPlay(viewing);
  if (actor.kind !== "account" || verdict.error || viewing.devices.hasSlot) return contentOf(facts, verdict);
  const device = { deviceId: ctx.deviceId ?? "", description: viewer.description };
  const claimed = await claimDevice(ctx, actor.id, device);
  // Without it, another request has taken the last slot, or this device's own.
  const devices = claimed ? [...facts.devices, device] : await selectDevices(ctx, actor.id);
  const after = { ...facts, devices };
  return contentOf(after, canIPlay(viewingOf(ctx, after, actor, viewer)));
}

type Facts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts(ctx: Ctx, which: { id: string } | { slug: string }) {
  const accountId = ctx.claimedAccountId ?? "";
  const isPage = and(eq(pages.siteId, ctx.siteId), "id" in which ? eq(pages.id, which.id) : eq(pages.slug, which.slug));
  const pageId = sql`(select ${pages.id} from ${pages} where ${isPage})`;
  const gateSkus = sql`(select value from json_each((select json_extract(${pages.data}, '$.gate.skus') from ${pages} where ${isPage})))`;
  const [[page], [site], held, passes, devices, [watched], [preview], [stream]] = await ctx.db.batch([
    ctx.db.select().from(pages).where(isPage),
    ctx.db.select({ deviceLimit: sites.deviceLimit }).from(sites).where(eq(sites.id, ctx.siteId)),
    ctx.db.select({ sku: accountEntitlements.sku }).from(accountEntitlements).where(heldBy(ctx, accountId)),
    ctx.db.select({ sku: accessCodes.sku }).from(accessCodes).where(loginCodesOf(ctx, accountId)),
    selectDevices(ctx, accountId),
    ctx.db
      .select({ seconds: watchTime.seconds })
      .from(watchTime)
      .where(
        and(
          eq(watchTime.siteId, ctx.siteId),
          eq(watchTime.pageId, pageId),
          eq(watchTime.viewer, viewerOf(ctx.claimedAccountId, ctx.deviceId ?? "")),
        ),
      ),
    ctx.db
      .select({ seconds: sql<number | null>`max(${subscriptions.previewDurationSeconds})`.as("seconds") })
      .from(subscriptions)
      .where(and(eq(subscriptions.siteId, ctx.siteId), sql`${subscriptions.sku} in ${gateSkus}`)),
    // The one that is on, else the last that was made.
    ctx.db
      .select({
        id: streams.id,
        title: streams.title,
        playbackUrl: streams.playbackUrl,
        fallbackImageUrl: streams.fallbackImageUrl,
        isLive: streams.isLive,
        liveSince: streams.liveSince,
      })
      .from(streams)
      .where(and(eq(streams.siteId, ctx.siteId), eq(streams.channelId, pageId)))
      .orderBy(desc(streams.isLive), desc(streams.created))
      .limit(1),
  ]);
  if (!page || !site) throw notFound("Page not found");
  return {
    page,
    deviceLimit: site.deviceLimit,
    heldSkus: held.map(({ sku }) => sku),
    loginSkus: passes.map(({ sku }) => sku),
    devices,
    preview: { allowed: preview?.seconds ?? 0, used: watched?.seconds ?? 0 },
    stream,
  };
}

function loginCodesOf(ctx: Ctx, accountId: string): SQL | undefined {
  return and(eq(accessCodes.siteId, ctx.siteId), eq(accessCodes.accountId, accountId), eq(accessCodes.type, "login"));
}

function viewingOf(ctx: Ctx, facts: Facts, actor: Actor, { country }: Viewer): Viewing {
  const { page, devices, deviceLimit, heldSkus, loginSkus, preview, stream } = facts;
  return {
    now: ctx.now,
    gate: page.data.gate,
    schedule: page.data.schedule,
    regions: page.data.regions ?? [],
    country,
    stream,
    videoSkus: [],
    signedIn: actor.kind === "account",
    manages: actor.kind === "account" && managesPage(actor.roles, page.id, "read"),
    heldSkus,
    loginSkus,
    preview,
    // Where the limit has been lowered, those that came first keep their slots.
    devices: {
      hasSlot: devices.slice(0, deviceLimit).some(({ deviceId }) => deviceId === ctx.deviceId),
      taken: devices.length,
      limit: deviceLimit,
    },
  };
}

function contentOf({ page, stream, devices, deviceLimit }: Facts, verdict: Verdict): Content {
  return { page, verdict, stream: verdict.error || !stream?.isLive ? null : stream, devices, deviceLimit };
}
