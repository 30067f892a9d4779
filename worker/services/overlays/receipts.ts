import { and, eq } from "drizzle-orm";
import { broadcasts } from "#db/schema/overlays.ts";
import { channelOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { ChannelReceipt } from "#worker/durable-objects/channel/channel.protocol.ts";
import { merge, quantile } from "#worker/lib/histogram.ts";
import { Failure, notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { seenSql } from "#worker/services/insights/impressions.ts";
import { SITE_WIDE } from "./broadcasts.ts";

/** Delivery counts. `delay` is in ms of the server's clock, from the channel's commit to the arrival of the acknowledgement. */
export interface DeliveryCounts {
  /** Open sockets in the broadcast's audience when it was sent; those it was delivered to; those that acknowledged it in time. */
  sockets: number;
  sent: number;
  acknowledged: number;
  /** Viewers who connected afterwards and received it with their welcome. */
  late: number;
  /** Sockets in the audience that have not acknowledged it. */
  missing: number;
  delay: { p50: number | null; p95: number | null; p99: number | null };
}

export interface Receipt extends DeliveryCounts {
  broadcastId: string;
  /** The channel and the position in its log; null for a broadcast to several channels. */
  channelId: string | null;
  seq: number | null;
  /** How often viewers reported that they saw it; null if none did. */
  seen: number | null;
  channels: (DeliveryCounts & { channelId: string; seq: number })[];
}

/** Returns the receipt of a broadcast as of now; receipts are kept for a day after the broadcast ends. */
export async function getReceipt(ctx: Ctx, broadcastId: string): Promise<Receipt> {
  const rows = await ctx.db
    .select({ channelId: broadcasts.channelId, seen: seenSql(ctx, broadcastId) })
    .from(broadcasts)
    .where(and(eq(broadcasts.siteId, ctx.siteId), eq(broadcasts.id, broadcastId)));
  if (rows.length === 0) throw notFound("Broadcast not found");
  const targets = rows.map((row) => row.channelId);
  const parts = await readReceipts(ctx, broadcastId, targets);
  const channelId = targets.length === 1 && targets[0] !== SITE_WIDE ? (targets[0] ?? null) : null;
  return {
    broadcastId,
    channelId,
    seq: channelId === null ? null : (parts[0]?.seq ?? null),
    seen: rows[0]?.seen ?? null,
    ...countsOf(parts),
    channels: parts.map((part) => ({ channelId: part.channelId, seq: part.seq, ...countsOf([part]) })),
  };
}

async function readReceipts(ctx: Ctx, broadcastId: string, targets: string[]): Promise<(ChannelReceipt & { channelId: string })[]> {
  try {
    const channelIds = targets.includes(SITE_WIDE) ? await presenceOf(ctx.env, ctx.siteId).reachedBy(broadcastId) : targets;
    const receipts = await Promise.all(
      channelIds.map(async (channelId) => {
        const [receipt] = await readChannelReceipts(ctx, channelId, [broadcastId]);
        return receipt ? [{ channelId, ...receipt }] : [];
      }),
    );
    return receipts.flat();
  } catch (cause) {
    throw new Failure("unavailable", "A channel did not respond; try again", { cause });
  }
}

async function readChannelReceipts(
  ctx: Pick<Ctx, "env" | "siteId">,
  channelId: string,
  broadcastIds: string[],
): Promise<(ChannelReceipt | null)[]> {
  return ChannelReceipt.nullable()
    .array()
    .parse(await channelOf(ctx.env, ctx.siteId, channelId).receipts(broadcastIds));
}

/** The deliveries of broadcasts on one channel; null for those that it no longer has. Throws if the channel doesn't respond. */
export async function readDeliveries(
  ctx: Pick<Ctx, "env" | "siteId">,
  channelId: string,
  broadcastIds: string[],
): Promise<(DeliveryCounts | null)[]> {
  const receipts = await readChannelReceipts(ctx, channelId, broadcastIds);
  return receipts.map((receipt) => receipt && countsOf([receipt]));
}

function countsOf(parts: ChannelReceipt[]): DeliveryCounts {
  const total = (count: (part: ChannelReceipt) => number) => parts.reduce((sum, part) => sum + count(part), 0);
  const delays = merge(parts.map((part) => part.delays));
  const sockets = total((part) => part.sockets);
  const acknowledged = total((part) => part.acknowledged);
  return {
    sockets,
    sent: total((part) => part.sent),
    acknowledged,
    late: total((part) => part.late),
    missing: sockets - acknowledged,
    delay: { p50: quantile(delays, 0.5), p95: quantile(delays, 0.95), p99: quantile(delays, 0.99) },
  };
}
