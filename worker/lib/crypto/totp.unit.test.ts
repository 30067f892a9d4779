import { expect, test } from "vitest";
import { newTotpSecret, totpCode, totpStep, totpUri } from "./totp.ts";

// The secret of RFC 6238's test vectors, "12345678901234567890"; apps show the last six of their eight digits.
const RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.for([
  [59, "287082"],
  [1111111109, "081804"],
  [1111111111, "050471"],
  [1234567890, "005924"],
  [2000000000, "279037"],
  [20000000000, "353130"],
] as const)("the code at %i s matches RFC 6238", ([seconds, code]) => {
  expect(totpCode(RFC_SECRET, seconds * 1000)).toBe(code);
  expect(totpStep(RFC_SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
});

test("a code is accepted one step before and after its own, and identifies its step", () => {
  const now = 1_800_000_000_000;
  const step = now / 30_000;
  const code = totpCode(RFC_SECRET, now);
  for (const late of [-30_000, 0, 30_000]) expect(totpStep(RFC_SECRET, code, now + late)).toBe(step);
  for (const late of [-60_000, 60_000]) expect(totpStep(RFC_SECRET, code, now + late)).toBeUndefined();
});

test("anything but six digits is rejected", () => {
  for (const code of ["", "12345", "1234567", "abcdef", " 287082", "28708２"]) expect(totpStep(RFC_SECRET, code, 59_000)).toBeUndefined();
});

test("a new secret has 160 bits, and its URI names issuer and account", () => {
  const secret = newTotpSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(secret);
  const uri = new URL(totpUri(secret, "Harbour City: FC", "ada@demo.example"));
  expect(uri.protocol).toBe("otpauth:");
  expect(uri.searchParams.get("secret")).toBe(secret);
});
