import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CODE_LENGTH, codesOf, normalizeCode, randomCode, typedCode } from "./codes.ts";

const seed = crypto.getRandomValues(new Uint8Array(16));

describe("codesOf", () => {
  test("generates the same codes for any offset", async () => {
    const all = await codesOf(seed, 0, 300);
    await fc.assert(
      fc.asyncProperty(fc.nat(250), fc.integer({ min: 1, max: 50 }), async (offset, count) => {
        expect(await codesOf(seed, offset, count)).toEqual(all.slice(offset, offset + count));
      }),
      { numRuns: 50 },
    );
  });

  test("generates different codes within a seed and across seeds", async () => {
    const codes = [...(await codesOf(seed, 0, 20_000)), ...(await codesOf(crypto.getRandomValues(new Uint8Array(16)), 0, 20_000))];
    expect(new Set(codes).size).toBe(40_000);
  });

  test("generates codes of 12 unambiguous letters and digits, evenly distributed", async () => {
    const codes = await codesOf(seed, 0, 20_000);
    const counts = new Map<string, number>();
    for (const code of codes) {
      expect(code).toHaveLength(CODE_LENGTH);
      for (const letter of code) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect([...counts.keys()].sort().join("")).toBe("23456789ABCDEFGHJKMNPQRSTVWXYZ");
    const fair = (20_000 * CODE_LENGTH) / 30;
    // The last letter of a half is biased to the start of the alphabet, by a sixth at most; the others aren't.
    for (const count of counts.values()) expect(Math.abs(count / fair - 1)).toBeLessThan(0.1);
  });
});

describe("randomCode", () => {
  test("uses every letter of the alphabet, and no other", () => {
    const drawn = new Set(randomCode(5_000, "abc7"));
    expect([...drawn].sort()).toEqual(["7", "a", "b", "c"]);
    expect(randomCode(8)).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/);
  });
});

describe("a typed code", () => {
  test("matches in any case, with spaces and hyphens", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("", " ", "-"), { minLength: 8, maxLength: 8 }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        (gaps, low) => {
          const code = randomCode(8);
          const typed = [...code].map((letter, i) => (gaps[i] ?? "") + (low[i] ? letter.toLowerCase() : letter)).join("");
          expect(typed).toMatch(typedCode(8));
          expect(normalizeCode(typed)).toBe(code);
        },
      ),
    );
  });

  test("doesn't match with another length, or with letters outside the alphabet", () => {
    for (const wrong of ["K7PQ2MX", "K7PQ2MXBB", "K7PQ2MX0", "K7PQ2MXI", "K7PQ2MXu", ""]) expect(wrong).not.toMatch(typedCode(8));
  });
});
