import { and, eq } from "drizzle-orm";
import { broadcasts } from "#db/schema/index.ts";
import { ChannelReceipt } from "#worker/durable-objects/channel/channel.protocol.ts";
import { merge, quantile } from "#worker/lib/histogram.ts";
import { Failure, notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { SITE_WIDE } from "./broadcasts.ts";
import { channelOf, presenceOf } from "#worker/services/realtime/realtime.ts";

/** What became of a broadcast. `delay` in ms of the server's clock: from the channel's commit to the acknowledgement's arrival. */
export interface Counts {
  /** Open sockets that it was for when it was sent, those that took it, and those that acknowledged it in time. */
  sockets: number;
  sent: number;
  acknowledged: number;
  /** Viewers who came afterwards and got it with their welcome. */
  late: number;
  /** Sockets that it was for and that have not acknowledged it. */
  missing: number;
  delay: { p50: number | null; p95: number | null; p99: number | null };
}

export interface Receipt extends Counts {
  broadcastId: string;
  /** The channel and the position there; null for a broadcast of several. */
  channelId: string | null;
  seq: number | null;
  channels: (Counts & { channelId: string; seq: number })[];
}

/** The receipt of a broadcast, counted until now; kept for a day after its end. */
export async function getReceipt(ctx: Ctx, broadcastId: string): Promise<Receipt> {
  const rows = await ctx.db
    .select({ channelId: broadcasts.channelId })
    .from(broadcasts)
    .where(and(eq(broadcasts.siteId, ctx.siteId), eq(broadcasts.id, broadcastId)));
  if (rows.length === 0) throw notFound("Broadcast not found");
  const asked = rows.map((row) => row.channelId);
  const parts = await askChannels(ctx, broadcastId, asked);
  const only = asked.length === 1 && asked[0] !== SITE_WIDE ? (asked[0] ?? null) : null;
  return {
    broadcastId,
    channelId: only,
    seq: only === null ? null : (parts[0]?.seq ?? null),
    ...countsOf(parts),
    channels: parts.map((part) => ({ channelId: part.channelId, seq: part.seq, ...countsOf([part]) })),
  };
}

async function askChannels(ctx: Ctx, broadcastId: string, asked: string[]): Promise<(ChannelReceipt & { channelId: string })[]> {
  try {
    const channelIds = asked.includes(SITE_WIDE) ? await presenceOf(ctx.env, ctx.siteId).reachedBy(broadcastId) : asked;
    const receipts = await Promise.all(
      channelIds.map(async (channelId) => {
        const receipt = ChannelReceipt.nullable().parse(await channelOf(ctx.env, ctx.siteId, channelId).receipt(broadcastId));
        return receipt ? [{ channelId, ...receipt }] : [];
      }),
    );
    return receipts.flat();
  } catch (cause) {
    throw new Failure("unavailable", "A channel did not answer; ask again", { cause });
  }
}

function countsOf(parts: ChannelReceipt[]): Counts {
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
