import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { drawWinners, newSeed } from "./raffle-draw.ts";

const entrants = Array.from({ length: 40 }, (_, number) => `5eed${String(number).padStart(20, "0")}`);

test("a seed is unique, and its commitment is its SHA-256", () => {
  const { seed, commitment } = newSeed();
  expect(seed).toMatch(/^[0-9a-f]{64}$/);
  expect(commitment).toBe(createHash("sha256").update(seed, "ascii").digest("hex"));
  expect(newSeed().seed).not.toBe(seed);
});

test("the winners are the first in the order of the keyed hashes", () => {
  const byHash = new Map(entrants.map((entrant) => [createHmac("sha256", "seed").update(entrant).digest("hex"), entrant]));
  const order = [...byHash.keys()].sort().map((hash) => byHash.get(hash));
  expect(drawWinners("seed", entrants, 3)).toEqual(order.slice(0, 3));
});

test("neither the order of entrants nor the number of winners affects the ranking", () => {
  fc.assert(
    fc.property(fc.string(), fc.shuffledSubarray(entrants), fc.integer({ min: 1, max: 50 }), (seed, some, winners) => {
      const won = drawWinners(seed, some, winners);
      expect(won).toEqual(drawWinners(seed, [...some].sort(), some.length).slice(0, winners));
      expect(won).toHaveLength(Math.min(winners, some.length));
    }),
  );
});

test("every entrant has the same chance of winning", () => {
  const wins = new Map<string, number>();
  for (let seed = 0; seed < 4_000; seed++) {
    const [winner = ""] = drawWinners(`seed ${seed}`, entrants.slice(0, 4), 1);
    wins.set(winner, (wins.get(winner) ?? 0) + 1);
  }
  // The seeds are fixed, so the result is deterministic.
  for (const won of wins.values()) expect(Math.abs(won - 1_000)).toBeLessThan(100);
});
