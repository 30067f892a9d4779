import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { solve } from "./proof-of-work.ts";
import { sha256Start } from "./sha256.ts";

describe("the proof of work of a sandbox", () => {
  test.each([0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 200])("hashes a text of %i bytes as Node does", (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 37 + length) % 256);
    expect(sha256Start(bytes) >>> 0).toBe(createHash("sha256").update(bytes).digest().readUInt32BE(0));
  });

  test.each([1, 8, 12])("finds a solution of %i bits that Node confirms", (bits) => {
    const challenge = `${bits}~1790604600000~nonce.signature`;
    const hash = createHash("sha256")
      .update(`${challenge}.${solve({ challenge, bits })}`)
      .digest();
    expect(Math.clz32(hash.readUInt32BE(0))).toBeGreaterThanOrEqual(bits);
  });
});
