import { and, eq, lte, sql } from "drizzle-orm";
import { broadcasts } from "#db/schema/overlays.ts";
import { rundownTakes, type TakeRow } from "#db/schema/rundowns.ts";
import type { TakeReceipt } from "#db/types.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { logError } from "#worker/lib/log.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { seenSql } from "#worker/services/insights/impressions.ts";
import { type DeliveryCounts, readDeliveries } from "#worker/services/overlays/receipts.ts";

/** Channels keep receipts for a day after the end of a broadcast. */
const KEPT_MS = 86_400_000;
/** Receipts that are read side by side, and per minute. */
const GROUP = 20;
const MAX_PER_RUN = 1_000;
/** Receipts read in one call: from 776 relays, these are about 30 MB in the channel's memory. */
const PER_CALL = 50;

type Worker = Pick<Ctx, "env" | "db" | "now">;

/** The receipts of a channel's takes as of now; null for what isn't a broadcast, and if the channel doesn't respond or no longer has it. */
export async function receiptsOf(
  ctx: Ctx,
  channelId: string,
  takes: (TakeRow & { seen: number | null })[],
): Promise<(TakeReceipt | null)[]> {
  const live = takes.filter(({ receiptDueAt }) => receiptDueAt !== null).map(({ id }) => id);
  const deliveries = new Map<string, DeliveryCounts | null | undefined>();
  for (const ids of inGroups(live, PER_CALL)) {
    const read = await readDeliveries(ctx, channelId, ids).catch(() => []);
    ids.forEach((id, i) => deliveries.set(id, read[i]));
  }
  return takes.map(({ id, receiptDueAt, receipt, seen }) => {
    const delivery = deliveries.get(id);
    return receiptDueAt === null ? receipt : delivery ? { ...delivery, seen } : null;
  });
}

/** Stores the receipts of broadcasts that have ended: their channels keep them for a day only. Safe to run twice. */
export async function settleReceipts({ env, db, now }: Worker): Promise<void> {
  for (let settled = 0; settled < MAX_PER_RUN; settled += GROUP) {
    const due = await db
      .select()
      .from(rundownTakes)
      .where(lte(rundownTakes.receiptDueAt, now))
      .orderBy(rundownTakes.receiptDueAt)
      .limit(GROUP);
    await Promise.all(due.map((take) => settle({ env, db, now }, take)));
    if (due.length < GROUP) return;
  }
}

async function settle(worker: Worker, take: TakeRow): Promise<void> {
  const { db, now } = worker;
  const [seen] = await db.select({ count: seenSql(take, take.id).as("seen") }).from(sql`(select 1)`);
  let receipt: TakeReceipt | null = null;
  try {
    receipt = await readReceipt(worker, take, seen?.count ?? null);
  } catch (error) {
    logError("take_receipt_not_read", error, { siteId: take.siteId, takeId: take.id });
    if (now - (take.endsAt ?? now) < KEPT_MS) return postpone(worker, take);
  }
  const clearedAt = sql`coalesce(${rundownTakes.clearedAt}, (select ${broadcasts.clearedAt} from ${broadcasts}
    where ${broadcasts.id} = ${take.id} and ${broadcasts.channelId} = ${take.channelId}))`;
  await db.update(rundownTakes).set({ receipt, receiptDueAt: null, clearedAt }).where(isDue(take));
}

/** So that channels which don't respond hold up none of the others. */
async function postpone({ db, now }: Worker, take: TakeRow): Promise<void> {
  await db
    .update(rundownTakes)
    .set({ receiptDueAt: now + 60_000 })
    .where(isDue(take));
}

function isDue({ id, siteId, receiptDueAt }: TakeRow) {
  return and(eq(rundownTakes.id, id), eq(rundownTakes.siteId, siteId), eq(rundownTakes.receiptDueAt, receiptDueAt ?? 0));
}

async function readReceipt({ env }: Worker, { siteId, channelId, id }: TakeRow, seen: number | null): Promise<TakeReceipt | null> {
  const [delivery] = await readDeliveries({ env, siteId }, channelId, [id]);
  return delivery ? { ...delivery, seen } : null;
}
