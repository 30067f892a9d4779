import { and, eq, gt, inArray, isNull, or } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { chatBans } from "#db/schema/engagement/chat.ts";
import { type DonationRow, donations } from "#db/schema/commerce/donations.ts";
import { type OverlayRow, overlays } from "#db/schema/overlays.ts";
import { panels } from "#db/schema/panels.ts";
import { Failure, wonRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { formatMoney } from "#worker/lib/money.ts";
import { commitIfUnchanged, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { asSystemInEffect } from "#worker/services/core/system.ts";
import { idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { type BroadcastEvent, insertRows, sendBroadcast, withoutTexts } from "#worker/services/overlays/broadcasts.ts";
import { buildBroadcast } from "#worker/services/overlays/build-broadcast.ts";
import { maskQuestion, readTextRules } from "#worker/services/qna/question-text.ts";

/** Thanks that are this late confuse more than they please. */
const TOO_LATE_MS = 10 * 60_000;

/**
 * Shows the panel's overlay for a paid donation on its channel, once: the broadcast has the event's id. An effect of `donation.paid`, which
 * also guarantees its delivery.
 */
export async function thankDonor(env: Env, siteId: string, event: LoggedEvent<"donation.paid">): Promise<void> {
  const now = Date.now();
  if (now - event.created > TOO_LATE_MS) return;
  await asSystemInEffect({ env, db: siteDb(env, siteId), now }, siteId, async (ctx) => {
    const [donation] = await ctx.db
      .select()
      .from(donations)
      .where(ownRow(ctx, donations, idOf(event)));
    const overlay = donation && (await overlayOf(ctx, donation));
    if (!overlay || donation.channelId === null) return;
    const broadcast = await buildThanks(ctx, event.id, overlay, donation, donation.channelId);
    if (broadcast) await send(ctx, { channelIds: [donation.channelId], broadcast });
  });
}

async function overlayOf(ctx: Ctx, { panelId }: DonationRow): Promise<OverlayRow | undefined> {
  const [panel] = await ctx.db
    .select({ renderer: panels.renderer })
    .from(panels)
    .where(ownRow(ctx, panels, panelId));
  const overlayId = panel?.renderer.panel_type === "donations" ? panel.renderer.thank_you_overlay_id : undefined;
  if (overlayId === undefined) return undefined;
  const [overlay] = await ctx.db
    .select()
    .from(overlays)
    .where(ownRow(ctx, overlays, overlayId));
  return overlay;
}

/** The overlay with the donor's texts, masked like questions. Without them if moderators have silenced the donor; undefined if it can't be filled in. */
async function buildThanks(ctx: Ctx, broadcastId: string, overlay: OverlayRow, donation: DonationRow, channelId: string) {
  const rules = await readTextRules(ctx, channelId);
  const isSilenced = await hasBan(ctx, donation.accountId, channelId);
  const masked = (text: string | null) => (text === null || isSilenced ? "" : maskQuestion(text, rules, false).text);
  const { amount, currency } = donation;
  const variables = { name: masked(donation.name), message: masked(donation.message), amount: formatMoney(amount, currency) };
  const personal = variables.name !== "" || variables.message !== "" ? true : undefined;
  try {
    return buildBroadcast(broadcastId, ctx.now, overlay, { duration: overlay.duration, variables, priority: 0, personal });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    logError("donation_thanks_failed", error, { siteId: ctx.siteId, overlayId: overlay.id });
    return undefined;
  }
}

/** Whether the account is banned or muted on the channel, or on the whole site. */
async function hasBan(ctx: Ctx, accountId: string, channelId: string): Promise<boolean> {
  const { id, siteId, until } = chatBans;
  const isOfChannel = and(eq(chatBans.accountId, accountId), inArray(chatBans.channelId, ["", channelId]));
  const bans = await ctx.db
    .select({ id })
    .from(chatBans)
    .where(and(eq(siteId, ctx.siteId), isOfChannel, or(isNull(until), gt(until, ctx.now))))
    .limit(1);
  return bans.length > 0;
}

async function send(ctx: Ctx, event: BroadcastEvent): Promise<void> {
  const { overlayId } = event.broadcast;
  await wonRace(() =>
    commitIfUnchanged(ctx, insertRows(ctx, event), {
      type: "overlay.broadcast",
      resource: `overlay/${overlayId}`,
      data: { ...event, broadcast: withoutTexts(event.broadcast) },
    }),
  );
  await sendBroadcast(ctx.env, ctx.siteId, event);
}
