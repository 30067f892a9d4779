import { createHash, createHmac, randomBytes } from "node:crypto";

/** How a raffle is drawn, for whoever checks one. */
export const RAFFLE_ALGORITHM =
  "The commitment is SHA-256(seed). Entrants are ordered by HMAC-SHA256(key: seed, message: entrant), hex, ascending; the first are the winners. Seed and entrants (claim ids) are taken as ASCII text, hashes are lowercase hex.";

/** A seed that nobody knows yet, and what proves later that it was this one. */
export function newSeed(): { seed: string; commitment: string } {
  const seed = randomBytes(32).toString("hex");
  return { seed, commitment: createHash("sha256").update(seed).digest("hex") };
}

/** The winners among the entrants, who each stand once in the order that the seed gives; all of them where there are fewer. */
export function drawWinners(seed: string, entrants: readonly string[], winners: number): string[] {
  return entrants
    .map((entrant) => ({ entrant, rank: createHmac("sha256", seed).update(entrant).digest("hex") }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, winners)
    .map(({ entrant }) => entrant);
}
