import { sha256Start } from "./sha256.ts";

/** What the server asks for before it creates a sandbox. */
export interface Challenge {
  challenge: string;
  bits: number;
}

const text = new TextEncoder();

/** The first number that solves a challenge: the hash of both begins with enough zero bits. */
export function solve({ challenge, bits }: Challenge): string {
  for (let number = 0; ; number++) {
    const solution = String(number);
    if (Math.clz32(sha256Start(text.encode(`${challenge}.${solution}`))) >= bits) return solution;
  }
}
