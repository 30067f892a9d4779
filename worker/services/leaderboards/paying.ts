import { and, eq, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { leaderboards } from "#db/schema/engagement/leaderboards.ts";
import type { PointsRule } from "#db/types.ts";
import { type NewAward, REASONS } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { SHARED_WAIT_MS, SharedCache } from "#worker/lib/shared-cache.ts";

// Which leaderboards pay for what viewers do.

type Source = PointsRule["on"];

/** A leaderboard, as far as it matters for what it pays. */
export interface PayingBoard {
  id: string;
  channelIds: string[];
  startsAt: number | null;
  endsAt: number | null;
  rules: PointsRule[];
}

/** What an account has done, once by its cause. */
export interface Deed {
  accountId: string;
  /** Identifies the deed among those of the same source and account. */
  cause: string;
  /** Milliseconds since 1970 UTC. */
  at: number;
}

/** Awards per call to a board. */
const BATCH = 1_000;
const MINUTE = 60_000;
/** How long the boards of a site are cached (ms). A change of one drops them from the cache of the site's log, where effects run. */
const CACHE_MS = 10_000;
const MAX_CACHED = 1_000;

const COLUMNS = {
  id: leaderboards.id,
  channelIds: leaderboards.channelIds,
  startsAt: leaderboards.startsAt,
  endsAt: leaderboards.endsAt,
  rules: leaderboards.rules,
};

const cache = new SharedCache<PayingBoard[]>({ max: MAX_CACHED, waitMs: SHARED_WAIT_MS, failedMs: 0 });

/** Selects the boards with a rule for this, for use in a batch. */
export function selectPaying(db: Db, siteId: string, source: Source) {
  const hasRule = sql`exists (select 1 from json_each(${leaderboards.rules}) as rule where rule.value ->> 'on' = ${source})`;
  return db
    .select(COLUMNS)
    .from(leaderboards)
    .where(and(eq(leaderboards.siteId, siteId), hasRule));
}

/** The site's boards, cached: most sites have none, and then an event costs nothing. */
export function boardsOf(env: Env, siteId: string): Promise<PayingBoard[]> {
  const load = async () => ({
    value: await siteDb(env, siteId).select(COLUMNS).from(leaderboards).where(eq(leaderboards.siteId, siteId)),
    freshMs: CACHE_MS,
  });
  return cache.get(siteId, load);
}

/** Of these boards, whether one counts only some channels. */
export function limitsChannels(boards: PayingBoard[]): boolean {
  return boards.some(({ channelIds }) => channelIds.length > 0);
}

/** Called when a board of the site changes. */
export function forgetBoards(siteId: string): void {
  cache.drop(siteId);
}

export function ruleOf({ rules }: PayingBoard, source: Source): PointsRule | undefined {
  return rules.find(({ on }) => on === source);
}

/** Whether a board counts what happens on these channels; none means the whole site, which includes the board's. */
export function counts({ channelIds: own }: PayingBoard, channelIds: string[]): boolean {
  return own.length === 0 || channelIds.length === 0 || channelIds.some((id) => own.includes(id));
}

/** Pays for deeds on these channels by the boards' rules. Safe to repeat. */
export async function pay(
  env: Env,
  siteId: string,
  boards: PayingBoard[],
  source: Source,
  deeds: Deed[],
  channelIds: string[],
): Promise<void> {
  await Promise.all(
    boards.map(async (board) => {
      const rule = ruleOf(board, source);
      if (!rule || !counts(board, channelIds)) return;
      const awards = deeds.filter(({ at }) => isWithin(board, at)).map((deed) => awardFor(rule, deed));
      for (let from = 0; from < awards.length; from += BATCH) {
        await leaderboardOf(env, siteId, board.id).award(awards.slice(from, from + BATCH));
      }
    }),
  );
}

/** Pays for watched minutes on these channels: the boards collect them, and award them a while later. Safe to repeat. */
export async function payForMinutes(
  env: Env,
  siteId: string,
  boards: PayingBoard[],
  watched: [accountId: string, minute: number][],
  channelIds: string[],
): Promise<void> {
  await Promise.all(
    boards.map(async (board) => {
      const rule = ruleOf(board, "minute.watched");
      if (!rule || !counts(board, channelIds)) return;
      const minutes = watched.filter(([, minute]) => isWithin(board, minute * MINUTE));
      for (const some of inGroups(minutes, BATCH))
        await leaderboardOf(env, siteId, board.id).watched({ rule: amountOf(rule), minutes: some });
    }),
  );
}

function amountOf({ points, perDay }: PointsRule): Pick<PointsRule, "points" | "perDay"> {
  return perDay === undefined ? { points } : { points, perDay };
}

function isWithin({ startsAt, endsAt }: PayingBoard, at: number): boolean {
  return (startsAt === null || at >= startsAt) && (endsAt === null || at < endsAt);
}

function awardFor(rule: PointsRule, { accountId, cause, at }: Deed): NewAward {
  return { accountId, points: rule.points, reason: REASONS[rule.on], cause: `${rule.on}/${cause}`, at, rule };
}
