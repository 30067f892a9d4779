import { env } from "cloudflare:workers";
import type { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { AwardResults, Leaderboard, OwnRank, RankList } from "#worker/services/leaderboards/schemas.ts";
import type { Caller, TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

export type Standings = [rank: number, name: string | null, points: number][];

/** What tests do with leaderboards, on the site that `site` returns by then. */
export function leaderboardsOf(site: () => TestSite) {
  async function newBoard(fields: Record<string, unknown> = {}, at = site()): Promise<z.output<typeof Leaderboard>> {
    return (await at.call("createLeaderboard", { body: { name: "Derby day", period: "all", ...fields } })).as(Leaderboard);
  }
  const award = (id: string, body: Record<string, unknown>, as: Caller = "developer", headers = {}) =>
    site().call("awardPoints", { params: { id }, body, as, headers });
  /** Awards points to each account in turn; returns the outcomes. */
  async function awardAll(id: string, points: [accountId: string, points: number][]) {
    const awards = points.map(([accountId, amount]) => ({ accountId, points: amount }));
    return (await award(id, { awards })).as(AwardResults).awards;
  }
  const page = async (id: string, query: Record<string, string | number> = {}) =>
    (await site().call("listRanks", { as: "client", params: { id }, query })).as(RankList);
  const ranks = async (id: string): Promise<Standings> =>
    (await page(id, { limit: 200 })).results.map(({ rank, name, points }) => [rank, name, points]);
  const own = async (id: string, as: Caller = "viewer", query = {}) =>
    (await site().call("getOwnRank", { as, params: { id }, query })).as(OwnRank);
  const board = (id: string) => leaderboardOf(env, site().id, id);
  /** Accounts that can't sign in, named after their number. */
  async function crowd(size: number, name = "fan"): Promise<string[]> {
    const now = Date.now();
    const ids = Array.from({ length: size }, () => newId(now));
    const person = { siteId: site().id, normalizedName: "", emailHash: "", roles: [], tags: [], thirdPartyAuthProviders: [] };
    const rows = ids.map((id, n) => ({
      ...{ ...person, id, name: `${name}-${n}`, email: `${id}@crowd.example`, marketingOptin: false },
      ...{ created: now, modified: now },
    }));
    for (let from = 0; from < rows.length; from += 5) await db.insert(accounts).values(rows.slice(from, from + 5));
    return ids;
  }
  return { newBoard, award, awardAll, page, ranks, own, board, crowd };
}

/** A row of the export, by the names of its columns. */
export function parseLedger(csv: string): Record<string, string>[] {
  const [header = "", ...lines] = csv.split("\r\n").filter((line) => line !== "");
  const names = header.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((field, index) => [names[index] ?? "", field])));
}

/** The ranks that follow from an export, by anybody who reads it. */
export function ranksOf(ledger: Record<string, string>[]): { rank: number; member: string; points: number }[] {
  const members = new Map<string, { points: number; reached: number }>();
  for (const { member = "", points, sequence } of ledger)
    members.set(member, { points: (members.get(member)?.points ?? 0) + Number(points), reached: Number(sequence) });
  const sorted = [...members].sort(([, a], [, b]) => b.points - a.points || a.reached - b.reached);
  return sorted.map(([member, { points }]) => ({
    rank: 1 + sorted.filter(([, other]) => other.points > points).length,
    member,
    points,
  }));
}
