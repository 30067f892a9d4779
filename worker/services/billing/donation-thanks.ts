import { createDb } from "#db/client.ts";
import { type DonationRow, donations, type OverlayRow, overlays, panels } from "#db/schema/index.ts";
import { Failure, wonRace } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { formatMoney } from "#worker/lib/money.ts";
import { maskWords } from "#worker/services/chat/filtered-words.ts";
import { readRoomConfig } from "#worker/services/chat/room-config.ts";
import { commitIfUnchanged, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { type BroadcastEvent, buildBroadcast, insertRows, sendBroadcast } from "#worker/services/overlays/broadcasts.ts";

/** Thanks that are this late confuse more than they please. */
const TOO_LATE_MS = 10 * 60_000;

/** Shows the panel's overlay for a paid donation on its channel, once: the broadcast has the event's id. An effect of `donation.paid`. */
export async function thankDonor(env: Env, siteId: string, event: LoggedEvent<"donation.paid">): Promise<void> {
  const now = Date.now();
  if (now - event.created > TOO_LATE_MS) return;
  await asSystem({ env, db: createDb(env.DB), now }, siteId, async (ctx) => {
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

/** The donor's texts are masked like messages in the channel's chat. Undefined if the overlay can't be filled in. */
async function buildThanks(ctx: Ctx, broadcastId: string, overlay: OverlayRow, donation: DonationRow, channelId: string) {
  const filter = (await readRoomConfig(ctx.env, ctx.siteId, channelId, ctx.now))?.filter;
  const masked = (text: string | null) => (filter ? maskWords(text ?? "", filter) : (text ?? ""));
  const { amount, currency } = donation;
  const variables = { name: masked(donation.name), message: masked(donation.message), amount: formatMoney(amount, currency) };
  try {
    return buildBroadcast(broadcastId, ctx.now, overlay, { duration: overlay.duration, variables, priority: 0 });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    logError("donation_thanks_failed", error, { siteId: ctx.siteId, overlayId: overlay.id });
    return undefined;
  }
}

async function send(ctx: Ctx, event: BroadcastEvent): Promise<void> {
  const { overlayId } = event.broadcast;
  await wonRace(() =>
    commitIfUnchanged(ctx, insertRows(ctx, event), {
      type: "overlay.broadcast",
      resource: `overlay/${overlayId}`,
      data: { ...event },
    }),
  );
  await sendBroadcast(ctx.env, ctx.siteId, event);
}
