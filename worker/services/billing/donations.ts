import { eq, gt } from "drizzle-orm";
import { type DonationRow, donations } from "#db/schema/commerce/donations.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import type { PanelRenderer } from "#db/types.ts";
import { conflict, invalid } from "#worker/lib/errors.ts";
import { formatMoney, isPayable, ENDS_IN_ZERO } from "#worker/lib/money.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { normalizeText } from "#worker/services/chat/text.ts";
import { openCheckout, type OpenedCheckout } from "./checkout.ts";
import type { DonationInput } from "./donation-schemas.ts";

const donationList = tableList<DonationRow>({
  table: donations,
  rows: (db, slice) => sliceOf(db.select().from(donations).$dynamic(), slice),
  sort: { paid: donations.paid },
  search: {},
});

/** Lists the site's paid donations, the latest first. */
export function listDonations(ctx: Ctx, { panelId, ...query }: ListQuery & { panelId?: string }): Promise<ListPage<DonationRow>> {
  const ofPanel = panelId === undefined ? undefined : eq(donations.panelId, panelId);
  return listRows(ctx, donationList, query, eq(donations.siteId, ctx.siteId), gt(donations.paid, 0), ofPanel);
}

/** Opens a payment page for a donation of one of the panel's amounts, or of any amount within its limits. */
export async function checkoutDonation(
  ctx: Ctx,
  { panelId, amount, channelId, name, message, ...urls }: DonationInput,
): Promise<OpenedCheckout> {
  const [[panel], [channel]] = await ctx.db.batch([
    ctx.db
      .select({ renderer: panels.renderer })
      .from(panels)
      .where(ownRow(ctx, panels, panelId)),
    ctx.db
      .select({ data: pages.data })
      .from(pages)
      .where(ownRow(ctx, pages, channelId ?? "")),
  ]);
  if (panel?.renderer.panel_type !== "donations") throw invalid("panelId", "The site has no donations panel with this id");
  const { currency, panel_name: description } = panel.renderer;
  if (currency === undefined) throw conflict("The panel has no amounts: donations are made on its page");
  requireAmount(panel.renderer, currency, amount);
  const texts = { name: plainText("name", name), message: plainText("message", message) };
  // Otherwise a donor could choose where the message is shown.
  if (channelId !== undefined && !channel?.data.sidebar?.panels?.includes(panelId))
    throw invalid("channelId", "The site has no channel with this id that shows the panel");
  const sale = { itemType: "donation" as const, itemId: panelId, description, skus: [], amount, currency, recurrence: null, priceId: null };
  return openCheckout(ctx, sale, urls, ({ id, siteId, accountId, created }) => [
    ctx.db.insert(donations).values({ id, siteId, accountId, panelId, channelId: channelId ?? null, ...texts, amount, currency, created }),
  ]);
}

type DonationsPanel = Extract<PanelRenderer, { panel_type: "donations" }>;

function requireAmount({ amounts, minimum_amount: min, maximum_amount: max }: DonationsPanel, currency: string, amount: number): void {
  if (amounts.includes(amount)) return;
  if (min === undefined || max === undefined)
    throw invalid("amount", `Must be one of the panel's amounts: ${amounts.map((one) => formatMoney(one, currency)).join(", ")}`);
  if (amount < min || amount > max) throw invalid("amount", `Must be from ${formatMoney(min, currency)} to ${formatMoney(max, currency)}`);
  if (!isPayable(amount, currency)) throw invalid("amount", ENDS_IN_ZERO);
}

/** A donor's text as it is stored: NFC, on one line, without control characters; blank text becomes null. */
function plainText(path: string, raw: string | null): string | null {
  if (raw === null || raw.trim() === "") return null;
  const normalized = normalizeText(raw);
  if (!normalized.ok) throw invalid(path, normalized.message);
  return normalized.text;
}
