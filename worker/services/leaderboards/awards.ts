import { accounts } from "#db/schema/accounts.ts";
import { leaderboardOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { AwardOutcome, NewAward } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { conflict, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Ctx, ownRows } from "#worker/services/core/context.ts";
import { selectLeaderboard } from "./leaderboards.ts";
import type { AwardInput, AwardResult } from "./schemas.ts";

const UNKNOWN: AwardOutcome = { ok: false, code: "not_found", message: "The site has no account with this id" };

type Award = NonNullable<AwardInput["awards"]>[number] & { awardId: string };

/** Awards points, each award once by its `awardId`. One award is rejected as a whole; of a list, each has its own outcome. */
export async function awardPoints(ctx: Ctx, id: string, input: AwardInput): Promise<AwardResult[]> {
  const awards = awardsOf(ctx, input);
  const [[leaderboard], known] = await ctx.db.batch([selectLeaderboard(ctx, id), selectAccounts(ctx, awards)]);
  if (!leaderboard) throw notFound("Leaderboard not found");
  const accountIds = new Set(known.map((account) => account.id));
  const outcomes = await record(ctx, id, awards, accountIds);
  const [only] = outcomes;
  if (!input.awards && only && !only.ok) throw only.code === "not_found" ? invalid("accountId", only.message) : conflict(only.message);
  return awards.map((award, index) => toResult(award, outcomes[index] ?? UNKNOWN));
}

function selectAccounts(ctx: Ctx, awards: Award[]) {
  const ids = [...new Set(awards.map(({ accountId }) => accountId))];
  return ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(ownRows(ctx, accounts, ids));
}

async function record(ctx: Ctx, id: string, awards: Award[], accountIds: Set<string>): Promise<AwardOutcome[]> {
  const valid = awards.filter(({ accountId }) => accountIds.has(accountId));
  if (valid.length === 0) return awards.map(() => UNKNOWN);
  const recorded = leaderboardOf(ctx.env, ctx.siteId, id).award(valid.map((award) => toNewAward(ctx, award)));
  const outcomes = await orUnavailable(recorded, "The points could not be recorded; send the request again with the same awardId");
  const results = outcomes.values();
  return awards.map(({ accountId }) => (accountIds.has(accountId) ? (results.next().value ?? UNKNOWN) : UNKNOWN));
}

/** Without an `awardId`, a repeated Idempotency-Key has the same ids, even if the first request failed before it responded. */
function awardsOf(ctx: Ctx, { awards, accountId = "", points = 0, reason, awardId }: AwardInput): Award[] {
  const list = awards ?? [{ accountId, points, reason, awardId }];
  const request = ctx.idempotencyId ?? newId(ctx.now);
  return list.map((award, index) => ({ ...award, awardId: award.awardId ?? `${request}/${index}` }));
}

function toNewAward(ctx: Ctx, { accountId, points, reason, awardId }: Award): NewAward {
  return { accountId, points, reason, cause: `award/${awardId}`, at: ctx.now, rule: null };
}

function toResult({ awardId, accountId, points }: Award, outcome: AwardOutcome): AwardResult {
  if (outcome.ok) return { awardId, accountId, points, status: outcome.repeated ? "repeated" : "awarded", total: outcome.total };
  return { awardId, accountId, points, status: "rejected", total: null, code: outcome.code, message: outcome.message };
}
