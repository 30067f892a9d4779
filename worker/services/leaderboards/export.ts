import { leaderboardOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { LedgerEntry } from "#worker/durable-objects/leaderboard/leaderboard.protocol.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { isSiteAdmin, keyAllows } from "#worker/lib/roles.ts";
import { requireStillAllowed } from "#worker/services/auth/current-caller.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { getLeaderboard } from "./leaderboards.ts";

/** Awards per call to the board; one has at most about 600 characters. */
const PAGE = 5_000;

const COLUMNS = {
  sequence: ({ seq }) => seq,
  earned_at: ({ at }) => new Date(at).toISOString(),
  member: ({ member }) => member,
  account_id: ({ accountId }) => accountId ?? "",
  points: ({ points }) => points,
  rule: ({ rule }) => rule ?? "",
  cause: ({ cause }) => cause,
  reason: ({ reason }) => reason,
} satisfies Record<string, (entry: LedgerEntry) => string | number>;

/** The ledger of a board as CSV, in the order in which awards were recorded, read as fast as it is sent. */
export async function exportLedger(ctx: Ctx, id: string): Promise<AsyncGenerator<string, void>> {
  await getLeaderboard(ctx, id);
  // Waits for the caller's verification, before anything of the board is read.
  await ctx.caller();
  return csvOf(ctx, id);
}

async function* csvOf(ctx: Ctx, id: string): AsyncGenerator<string, void> {
  yield csvLine(Object.keys(COLUMNS));
  const board = leaderboardOf(ctx.env, ctx.siteId, id);
  for (let after = 0; ;) {
    if (after > 0) await requireStillAllowed(ctx, mayStillExport);
    const page = await orUnavailable(board.entries(after, PAGE), "The leaderboard did not respond");
    if (page.length > 0) yield page.map((entry) => csvLine(Object.values(COLUMNS).map((column) => column(entry)))).join("");
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.seq;
  }
}

/** Whoever loses the role meanwhile gets no further page. */
function mayStillExport(actor: Actor): boolean {
  if (actor.kind === "developer") return keyAllows(actor.roles, "leaderboard", "read");
  return actor.kind === "account" && isSiteAdmin(actor.roles, "read");
}
