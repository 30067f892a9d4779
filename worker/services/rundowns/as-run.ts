import { and, asc, eq, gt, type SQL, sql } from "drizzle-orm";
import { rundownTakes } from "#db/schema/rundowns.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { keyAllows, managesPage } from "#worker/lib/roles.ts";
import { requireStillAllowed } from "#worker/services/auth/current-caller.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { receiptsOf } from "./receipts.ts";
import { getRundown } from "./rundowns.ts";
import { type AsRunEntry, type AsRunQuery, type NamedTake, toTake } from "./schemas.ts";
import { takeColumns } from "./takes.ts";

const PAGE = 200;

/** How often viewers have reported that they saw it, as of its receipt. */
const seen = sql<number | null>`(select sum(value) from insight_reach where insight_reach.site_id = rundown_takes.site_id
  and insight_reach.target_id = rundown_takes.id and insight_reach.kind = 'broadcast.shown')`.as("seen");

type LoggedTake = NamedTake & { seen: number | null };

const asRunList = tableList<LoggedTake>({
  table: rundownTakes,
  rows: (db, slice) =>
    sliceOf(
      db
        .select({ ...takeColumns, seen })
        .from(rundownTakes)
        .$dynamic(),
      slice,
    ),
  // Several can be taken in one moment; their generations have the same order.
  sort: { takenAt: rundownTakes.generation },
  defaultDirection: 1,
  search: {},
});

/** What went out, oldest first, with receipts as of now. */
export async function listAsRun(ctx: Ctx, id: string, query: AsRunQuery): Promise<ListPage<AsRunEntry>> {
  const { channelId } = await getRundown(ctx, id, "read");
  const page = await listRows(ctx, asRunList, query, ...ofRundown(ctx, id, query));
  return { ...page, rows: await toEntries(ctx, channelId, page.rows) };
}

/** The same as CSV, without pages, read as fast as it is sent. */
export async function exportAsRun(ctx: Ctx, id: string, query: AsRunQuery): Promise<AsyncGenerator<string, void>> {
  const { channelId } = await getRundown(ctx, id, "read");
  return csvOf(ctx, channelId, and(...ofRundown(ctx, id, query)));
}

const iso = (time: number | null): string => (time === null ? "" : new Date(time).toISOString());
const orEmpty = (value: string | number | null | undefined): string | number => value ?? "";

const COLUMNS = {
  take_id: ({ _id }) => _id,
  taken_at: ({ takenAt }) => iso(takenAt),
  kind: ({ kind }) => kind,
  action: ({ action }) => orEmpty(action),
  item_id: ({ itemId }) => itemId,
  name: ({ name }) => name,
  target_id: ({ targetId }) => orEmpty(targetId),
  trigger: ({ trigger }) => trigger,
  taken_by: ({ by }) => orEmpty(by?.id),
  taken_by_name: ({ by }) => orEmpty(by?.name),
  state: ({ state }) => state,
  message: ({ message }) => orEmpty(message),
  ends_at: ({ endsAt }) => iso(endsAt),
  cleared_at: ({ clearedAt }) => iso(clearedAt),
  cleared_by: ({ clearedBy }) => orEmpty(clearedBy?.id),
  sockets: ({ receipt }) => orEmpty(receipt?.sockets),
  sent: ({ receipt }) => orEmpty(receipt?.sent),
  acknowledged: ({ receipt }) => orEmpty(receipt?.acknowledged),
  seen: ({ receipt }) => orEmpty(receipt?.seen),
  late: ({ receipt }) => orEmpty(receipt?.late),
  missing: ({ receipt }) => orEmpty(receipt?.missing),
  p50_ms: ({ receipt }) => orEmpty(receipt?.delay.p50),
  p95_ms: ({ receipt }) => orEmpty(receipt?.delay.p95),
  p99_ms: ({ receipt }) => orEmpty(receipt?.delay.p99),
} satisfies Record<string, (entry: AsRunEntry) => string | number>;

function mayStillExport(actor: Actor, channelId: string): boolean {
  if (actor.kind === "developer") return keyAllows(actor.roles, "rundown", "read");
  return actor.kind === "account" && managesPage(actor.roles, channelId, "read");
}

async function* csvOf(ctx: Ctx, channelId: string, where: SQL | undefined): AsyncGenerator<string, void> {
  yield csvLine(Object.keys(COLUMNS));
  for (let last: LoggedTake | undefined; ;) {
    // Whoever loses the role meanwhile gets no further page.
    if (last) await requireStillAllowed(ctx, (actor) => mayStillExport(actor, channelId));
    const rows: LoggedTake[] = await ctx.db
      .select({ ...takeColumns, seen })
      .from(rundownTakes)
      .where(and(where, gt(rundownTakes.generation, last?.generation ?? -1)))
      .orderBy(asc(rundownTakes.generation))
      .limit(PAGE);
    const entries = await toEntries(ctx, channelId, rows);
    if (entries.length > 0) yield entries.map((entry) => csvLine(Object.values(COLUMNS).map((column) => column(entry)))).join("");
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

function ofRundown(ctx: Ctx, id: string, { kind }: AsRunQuery): (SQL | undefined)[] {
  return [
    eq(rundownTakes.siteId, ctx.siteId),
    eq(rundownTakes.rundownId, id),
    kind === undefined ? undefined : eq(rundownTakes.kind, kind),
  ];
}

async function toEntries(ctx: Ctx, channelId: string, rows: LoggedTake[]): Promise<AsRunEntry[]> {
  const receipts = await receiptsOf(ctx, channelId, rows);
  return rows.map((row, i) => ({ ...toTake(row), receipt: receipts[i] ?? null, isFinal: row.receiptDueAt === null }));
}
