import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { directoryDb } from "#db/databases.ts";
import { siteMoves } from "#db/schema/databases/site-moves.ts";
import type { ApiResponse, TestSite } from "#test/harness.ts";
import { continueMove } from "#worker/services/site-moves/steps.ts";

// Moves of sites between the two databases, whose steps a test takes itself: the queue's messages come with the real time.

export const HOUR = 3_600_000;

let passed = 0;

/** An hour after each `wait`, so that every lease and pause is over. */
export const later = (): number => Date.now() + passed * HOUR;

export function wait(): void {
  passed++;
}

export const start = (of: TestSite, shard: number): Promise<ApiResponse> =>
  of.call("moveSite", { params: { siteId: of.id }, body: { shard } });

export async function phaseOf(siteId: string): Promise<string> {
  const [move] = await directoryDb(env).select().from(siteMoves).where(eq(siteMoves.siteId, siteId));
  return move?.phase ?? "none";
}

/** Takes the steps of a move until it has ended. */
export async function finish(siteId: string, worker: Env = env): Promise<string> {
  for (let phase = await phaseOf(siteId); ; phase = await phaseOf(siteId)) {
    if (["complete", "cancelled", "none"].includes(phase)) return phase;
    wait();
    await continueMove(worker, siteId, later);
  }
}

/** Takes the steps of a site's move until it is in a phase. */
export async function finishUntil(siteId: string, phase: string): Promise<void> {
  while ((await phaseOf(siteId)) !== phase) {
    wait();
    await continueMove(env, siteId, later);
  }
  wait();
}
