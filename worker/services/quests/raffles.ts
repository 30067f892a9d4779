import { and, asc, eq, or, type SQL, sql } from "drizzle-orm";
import { claims, type QuestRow, quests } from "#db/schema/engagement/quests.ts";
import type { RaffleDraw } from "#db/types.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { wonRace, conflict, notFound } from "#worker/lib/errors.ts";
import { drawWinners, newSeed, RAFFLE_ALGORITHM } from "./raffle-draw.ts";
import type { RaffleResult } from "./schemas.ts";
import { commitIfUnchanged, type Ctx, type NewEvent, ownRow, whereVersion } from "#worker/services/core/context.ts";
import { requireChannelAdmin } from "./channel-admins.ts";

const PURPOSE = "raffle seed";
const ATTEMPTS = 5;
const NOT_DRAWN = "Other entries were drawn";

interface Entry {
  claimId: string;
  accountId: string;
  /** Increases with each claim and is never reused. */
  row: number;
}

/** The columns of a raffle that has not been drawn. */
export async function newRaffle(env: { TIFO_SECRET: string }): Promise<{ raffleSeed: string; raffleCommitment: string }> {
  const { seed, commitment } = newSeed();
  return { raffleSeed: await seal(env, PURPOSE, seed), raffleCommitment: commitment };
}

/**
 * Draws a quest's raffle among the pending entries: winning claims succeed, the others end in ERROR. A raffle is drawn once: later
 * calls return the same result, whatever number of winners they request.
 */
export async function drawRaffle(ctx: Ctx, id: string, winners: number): Promise<RaffleResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { quest, entries } = await readRaffle(ctx, id);
    if (attempt === 0) await requireChannelAdmin(ctx, quest.channelIds);
    // A repeated request rebuilds its response from the row, because with many entrants it is too large to store.
    ctx.receipt = id;
    const result = quest.raffleDraw ?? (await draw(ctx, quest, entries, winners));
    if (result) return resultOf(quest, result, entries);
  }
  throw conflict("New entries keep arriving during the draw; end the quest first, or try again");
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

/** Returns undefined if the entries changed concurrently, or another request has drawn. */
async function draw(ctx: Ctx, quest: QuestRow, entries: Entry[], winners: number): Promise<RaffleDraw | undefined> {
  const { raffleSeed, raffleCommitment: commitment } = quest;
  if (quest.rewardType !== "raffle" || raffleSeed === null || commitment === null) throw conflict("The quest's reward is not a raffle");
  const seed = await open(ctx.env, PURPOSE, raffleSeed);
  const accounts = new Map(entries.map(({ claimId, accountId }) => [claimId, accountId]));
  const won = drawWinners(seed, [...accounts.keys()], winners);
  const result: RaffleDraw = { at: ctx.now, seed, winners: won.map((claimId) => ({ claimId, accountId: accounts.get(claimId) ?? "" })) };
  const pending = and(entriesOf(ctx, quest.id), eq(claims.status, "PENDING"));
  const change = ctx.db
    .update(quests)
    .set({ raffleDraw: result, modified: ctx.now, version: quest.version + 1 })
    .where(and(whereVersion(ctx, quests, quest), entriesUnchanged(entries, pending)));
  const hasWon = sql`${claims.id} in (select value from json_each(${JSON.stringify(won)}))`;
  const settleClaims = ctx.db
    .update(claims)
    .set({
      status: sql`case when ${hasWon} then 'SUCCESS' else 'ERROR' end`,
      message: sql`case when ${hasWon} then ${claims.message} else ${NOT_DRAWN} end`,
      drawn: true,
      modified: ctx.now,
      version: sql`${claims.version} + 1`,
    })
    .where(pending);
  const data = { questId: quest.id, entrants: entries.length, winners: result.winners, seed, commitment };
  const event: NewEvent<"raffle.drawn"> = { type: "raffle.drawn", resource: `quest/${quest.id}`, data };
  return (await wonRace(() => commitIfUnchanged(ctx, [change, settleClaims], event))) ? result : undefined;
}

function entriesOf(ctx: Ctx, questId: string): SQL | undefined {
  return and(eq(claims.siteId, ctx.siteId), eq(claims.questId, questId), eq(claims.rewardType, "raffle"));
}

/** Whether exactly these entries are pending: a new one would have a greater row id, otherwise the count can only fall. */
function entriesUnchanged(entries: Entry[], pending: SQL | undefined): SQL {
  const last = Math.max(0, ...entries.map(({ row }) => row));
  return sql`(select count(*) = ${entries.length} and coalesce(max(${claims}.rowid), 0) = ${last} from ${claims} where ${pending})`;
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
