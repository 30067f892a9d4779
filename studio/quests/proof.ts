import type { Schemas } from "#sdk/client/index.ts";

export type RaffleResult = Schemas["RaffleResult"];

export interface Proof {
  /** The seed is the one whose hash was published when the raffle was created. */
  seedIsCommitted: boolean;
  /** Sorting the entrants again gives the same winners. */
  winnersFollow: boolean;
}

/** Repeats a draw, in this browser: with what was published before it, the seed, and the entrants. */
export async function verifyDraw(result: RaffleResult, published: string): Promise<Proof> {
  const { seed, entrants, winners, commitment } = result;
  const bytes = new TextEncoder().encode(seed);
  const hash = hex(await crypto.subtle.digest("SHA-256", bytes));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const ranked = await Promise.all(
    entrants.map(async (entrant) => ({ entrant, rank: hex(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(entrant))) })),
  );
  const order = ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ entrant }) => entrant);
  return {
    seedIsCommitted: hash === commitment && commitment === published,
    winnersFollow: winners.length > 0 && winners.every(({ claimId }, index) => order[index] === claimId),
  };
}

function hex(buffer: ArrayBuffer): string {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
