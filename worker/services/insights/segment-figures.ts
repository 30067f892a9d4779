import { and, count, countDistinct, eq, gte, lt, type SQL, sql, sum } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { accounts } from "#db/schema/accounts.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { pollResponses } from "#db/schema/engagement/polls.ts";
import { claims } from "#db/schema/engagement/quests.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { forbidden, invalid } from "#worker/lib/errors.ts";
import { keyAllows } from "#worker/lib/roles.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { selectMatching } from "#worker/services/segments/accounts.ts";
import { isStored } from "#worker/services/segments/filter-sql.ts";
import { readSegment } from "#worker/services/segments/size.ts";
import { LONGEST_SEGMENT_MS, rangeOf, type SegmentFigures, type SegmentFiguresQuery, SegmentHour } from "./engagement-schemas.ts";
import { HOUR_MS, MINUTE_MS } from "./hours.ts";
import { hourOf } from "./rollup.ts";

// Literals, because a bound number is a float, and the division would have a remainder.
const HOUR = sql.raw(String(HOUR_MS));
const HOUR_MINUTES = sql.raw(String(HOUR_MS / MINUTE_MS));

type Figures = Omit<SegmentHour, "hour">;

const NOTHING: Figures = { viewers: 0, watchMinutes: 0, votes: 0, claims: 0, purchases: 0, donations: 0 };

/** What the accounts that are in a segment now did, per hour of the whole site. Reads all accounts, as the segment's size does. */
export async function readSegmentFigures(ctx: Ctx, slug: string, query: SegmentFiguresQuery): Promise<SegmentFigures> {
  const wanted = rangeOf(query, ctx.now);
  const to = Math.min(wanted.to, ctx.now);
  if (to - wanted.from > LONGEST_SEGMENT_MS) throw invalid("from", "At most 31 days before to");
  const { filter } = await readSegment(ctx, slug);
  const caller = await ctx.caller();
  // A segment may have a single account, whose activity its figures then are.
  if (caller.kind === "developer" && !keyAllows(caller.roles, "account", "read"))
    throw forbidden("The developer key lacks the role account:read, which the figures of a segment require");
  if (!isStored(filter)) throw invalid("slug", "Its filter depends on language or country, which isn't stored about accounts");
  const isMember = await selectMatching(ctx, filter);
  if (isMember === null) throw invalid("slug", "Its filter depends on the points of too many members of a leaderboard");
  const range = { from: hourOf(wanted.from), to };
  const figures = await readFigures(ctx, isMember, range);
  const hours = Math.max(0, Math.ceil((range.to - range.from) / HOUR_MS));
  return {
    slug,
    results: Array.from({ length: hours }, (_, index) => {
      const hour = range.from + index * HOUR_MS;
      return { hour, ...NOTHING, ...figures.get(hour) };
    }),
  };
}

export function segmentFiguresCsv({ results }: SegmentFigures): string {
  const rows = results.map(({ hour, ...figures }) => csvLine([new Date(hour).toISOString(), ...Object.values(figures)]));
  return [csvLine(Object.keys(SegmentHour.shape)), ...rows].join("");
}

interface Range {
  from: number;
  to: number;
}

/** One batch. Each select goes from the accounts to their rows, by indexes that start with the account: hence the cross joins. */
async function readFigures(ctx: Ctx, isMember: SQL, { from, to }: Range): Promise<Map<number, Partial<Figures>>> {
  const { db, siteId } = ctx;
  const members = and(eq(accounts.siteId, siteId), isMember);
  const rowsOf = (table: { siteId: SQLiteColumn; accountId: SQLiteColumn; created: SQLiteColumn }) =>
    and(members, eq(table.siteId, siteId), eq(table.accountId, accounts.id), gte(table.created, from), lt(table.created, to));
  const { startMinute, accountId, seconds } = viewerActivity;
  const watchedHour = sql<number>`${startMinute} / ${HOUR_MINUTES} * ${HOUR}`.as("hour");
  const [watched, votes, claimed, paid] = await db.batch([
    db
      .select({ hour: watchedHour, viewers: countDistinct(accountId), seconds: sum(seconds).mapWith(Number) })
      .from(accounts)
      .crossJoin(viewerActivity)
      .where(
        and(
          ...[members, eq(viewerActivity.siteId, siteId), eq(accountId, accounts.id), eq(viewerActivity.kind, "watch")],
          ...[gte(startMinute, from / MINUTE_MS), lt(startMinute, to / MINUTE_MS)],
        ),
      )
      .groupBy(sql`1`),
    db
      .select({ hour: createdHour(pollResponses.created), votes: count() })
      .from(accounts)
      .crossJoin(pollResponses)
      .where(rowsOf(pollResponses))
      .groupBy(sql`1`),
    db
      .select({ hour: createdHour(claims.created), claims: count() })
      .from(accounts)
      .crossJoin(claims)
      .where(rowsOf(claims))
      .groupBy(sql`1`),
    db
      .select({ hour: createdHour(charges.created), donations: donations(), all: count() })
      .from(accounts)
      .crossJoin(charges)
      .where(and(rowsOf(charges), eq(charges.status, "complete")))
      .groupBy(sql`1`),
  ]);
  const figures = new Map<number, Partial<Figures>>();
  const add = (hour: number, more: Partial<Figures>) => figures.set(hour, { ...figures.get(hour), ...more });
  for (const row of watched) add(row.hour, { viewers: row.viewers, watchMinutes: Math.round(row.seconds / 6) / 10 });
  for (const row of votes) add(row.hour, { votes: row.votes });
  for (const row of claimed) add(row.hour, { claims: row.claims });
  for (const row of paid) add(row.hour, { purchases: row.all - row.donations, donations: row.donations });
  return figures;
}

function createdHour(column: SQLiteColumn) {
  return sql<number>`${column} / ${HOUR} * ${HOUR}`.as("hour");
}

function donations() {
  return sql<number>`sum(${charges.itemType} = 'donation')`;
}
