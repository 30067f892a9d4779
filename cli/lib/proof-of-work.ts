import { createHash } from "node:crypto";

/** The first number with which the SHA-256 hash of `<challenge>.<number>` begins with `bits` zero bits. */
export function solve({ challenge, bits }: { challenge: string; bits: number }): string {
  for (let number = 0; ; number++) {
    const hash = createHash("sha256").update(`${challenge}.${number}`).digest();
    if (Math.clz32(hash.readUInt32BE(0)) >= bits) return String(number);
  }
}
