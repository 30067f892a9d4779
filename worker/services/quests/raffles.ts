import { and, asc, eq, or, type SQL, sql } from "drizzle-orm";
import { claims, type QuestRow, quests } from "#db/schema/index.ts";
import type { RaffleDraw } from "#db/types.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { wonRace, conflict, notFound } from "#worker/lib/errors.ts";
import { drawWinners, newSeed, RAFFLE_ALGORITHM } from "./raffle-draw.ts";
import type { RaffleResult } from "./schemas.ts";
import { whereVersion, commitIfUnchanged, type Ctx, ownRow } from "#worker/services/core/context.ts";
import { requireChannelAdmin } from "./channel-admins.ts";

const PURPOSE = "raffle seed";
const ATTEMPTS = 5;
const NOT_DRAWN = "Other entries were drawn";

interface Entry {
  claimId: string;
  accountId: string;
  /** Grows with each claim that is made, and is never given twice. */
  row: number;
}

/** The columns of a raffle that is yet to be drawn. */
export async function newRaffle(env: { TIFO_SECRET: string }): Promise<{ raffleSeed: string; raffleCommitment: string }> {
  const { seed, commitment } = newSeed();
  return { raffleSeed: await seal(env, PURPOSE, seed), raffleCommitment: commitment };
}

/**
 * Draws a quest's raffle among the entries that wait: the winners' claims succeed, those of the others end in ERROR. Once drawn it stays
 * as it came out: whoever draws again is answered the same, however many were asked for.
 */
export async function drawRaffle(ctx: Ctx, id: string, winners: number): Promise<RaffleResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { quest, entries } = await readRaffle(ctx, id);
    if (attempt === 0) await requireChannelAdmin(ctx, quest.channelIds);
    // Told from the row should the request be repeated: with many entrants the answer is too large to be kept.
    ctx.receipt = id;
    const result = quest.raffleDraw ?? (await draw(ctx, quest, entries, winners));
    if (result) return resultOf(quest, result, entries);
  }
  throw conflict("Viewers enter faster than it can be drawn; end the quest first, or try again");
}

async function readRaffle(ctx: Ctx, id: string): Promise<{ quest: QuestRow; entries: Entry[] }> {
  const [[quest], entries] = await ctx.db.batch([
    ctx.db
      .select()
      .from(quests)
      .where(ownRow(ctx, quests, id)),
    ctx.db
      .select({ claimId: claims.id, accountId: claims.accountId, row: sql<number>`${claims}.rowid`.as("row") })
      .from(claims)
      .where(and(entriesOf(ctx, id), or(eq(claims.status, "PENDING"), eq(claims.drawn, true))))
      .orderBy(asc(claims.id)),
  ]);
  if (!quest) throw notFound("Quest not found");
  return { quest, entries };
}

/** Undefined where an entry came or went meanwhile, or another request has drawn. */
async function draw(ctx: Ctx, quest: QuestRow, entries: Entry[], winners: number): Promise<RaffleDraw | undefined> {
  if (quest.rewardType !== "raffle" || quest.raffleSeed === null) throw conflict("The quest's reward is no raffle");
  const seed = await open(ctx.env, PURPOSE, quest.raffleSeed);
  const accounts = new Map(entries.map(({ claimId, accountId }) => [claimId, accountId]));
  const won = drawWinners(seed, [...accounts.keys()], winners);
  const result: RaffleDraw = { at: ctx.now, seed, winners: won.map((claimId) => ({ claimId, accountId: accounts.get(claimId) ?? "" })) };
  const waiting = and(entriesOf(ctx, quest.id), eq(claims.status, "PENDING"));
  const change = ctx.db
    .update(quests)
    .set({ raffleDraw: result, modified: ctx.now, version: quest.version + 1 })
    .where(and(whereVersion(ctx, quests, quest), isStill(entries, waiting)));
  const hasWon = sql`${claims.id} in (select value from json_each(${JSON.stringify(won)}))`;
  const settled = ctx.db
    .update(claims)
    .set({
      status: sql`case when ${hasWon} then 'SUCCESS' else 'ERROR' end`,
      message: sql`case when ${hasWon} then ${claims.message} else ${NOT_DRAWN} end`,
      drawn: true,
      modified: ctx.now,
      version: sql`${claims.version} + 1`,
    })
    .where(waiting);
  const data = { questId: quest.id, entrants: entries.length, winners: result.winners, seed, commitment: quest.raffleCommitment };
  const event = { type: "raffle.drawn", resource: `quest/${quest.id}`, data };
  return (await wonRace(() => commitIfUnchanged(ctx, [change, settled], event))) ? result : undefined;
}

function entriesOf(ctx: Ctx, questId: string): SQL | undefined {
  return and(eq(claims.siteId, ctx.siteId), eq(claims.questId, questId), eq(claims.rewardType, "raffle"));
}

/** Whether exactly these wait: a newer one would have a greater row, and without one their number only falls. */
function isStill(entries: Entry[], waiting: SQL | undefined): SQL {
  const last = Math.max(0, ...entries.map(({ row }) => row));
  return sql`(select count(*) = ${entries.length} and coalesce(max(${claims}.rowid), 0) = ${last} from ${claims} where ${waiting})`;
}

function resultOf(quest: QuestRow, { winners, seed }: RaffleDraw, entries: Entry[]): RaffleResult {
  return {
    winners,
    entrants: entries.map(({ claimId }) => claimId),
    seed,
    commitment: quest.raffleCommitment ?? "",
    algorithm: RAFFLE_ALGORITHM,
  };
}
