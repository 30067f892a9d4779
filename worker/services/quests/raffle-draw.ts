import { createHash, createHmac, randomBytes } from "node:crypto";

/** Explains the draw, so that anyone can verify it. */
export const RAFFLE_ALGORITHM =
  "The commitment is SHA-256(seed). Entrants are ordered by HMAC-SHA256(key: seed, message: entrant), in hex, ascending; the first ones win. Seed and entrants (claim ids) are ASCII text; hashes are lowercase hex.";

/** A new secret seed, and the commitment that proves it later. */
export function newSeed(): { seed: string; commitment: string } {
  const seed = randomBytes(32).toString("hex");
  return { seed, commitment: createHash("sha256").update(seed).digest("hex") };
}

/** The first `winners` of the entrants in the order that the seed determines, or all of them if there are fewer. */
export function drawWinners(seed: string, entrants: readonly string[], winners: number): string[] {
  return entrants
    .map((entrant) => ({ entrant, rank: createHmac("sha256", seed).update(entrant).digest("hex") }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, winners)
    .map(({ entrant }) => entrant);
}
