import { createHash } from "node:crypto";

/** Whether the hash of a challenge and its solution begins with `bits` zero bits. */
export function solves(challenge: string, solution: string, bits: number): boolean {
  return Math.clz32(createHash("sha256").update(`${challenge}.${solution}`).digest().readUInt32BE(0)) >= bits;
}

/** A challenge's first solution from the number `from` on. */
export function solve({ challenge, bits }: { challenge: string; bits: number }, from = 0): { challenge: string; solution: string } {
  for (let number = from; ; number++) if (solves(challenge, String(number), bits)) return { challenge, solution: String(number) };
}
