import { expect, test } from "vitest";
import { equalInConstantTime, fromBase64Url, hashPassword, randomToken, secretsOf, sha256, toBase64Url, verifyPassword } from "./crypto.ts";

test("a password is known by its hash, each of which has a salt of its own", async () => {
  const [one, other] = [await hashPassword("correct horse"), await hashPassword("correct horse")];
  expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(one).not.toBe(other);
  expect(await verifyPassword("correct horse", one)).toEqual({ valid: true, stale: false });
  expect(await verifyPassword("correct horse ", one)).toEqual({ valid: false, stale: false });
});

test("a password is the same however its accents are written", async () => {
  expect((await verifyPassword("cafe\u0301", await hashPassword("caf\u00e9"))).valid).toBe(true);
});

test("a hash with other parameters is valid, and to be made anew", async () => {
  // The third vector of RFC 7914, section 12, of which a hash of ours takes the first 32 bytes.
  const phc = "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI";
  expect(await verifyPassword("pleaseletmein", phc)).toEqual({ valid: true, stale: true });
});

test.for(["", "plain", "$scrypt$", "$argon2id$v=19$m=1$a$b"])("what is no hash of ours, such as %j, lets nobody in", async (phc) => {
  expect(await verifyPassword("anything", phc)).toEqual({ valid: false, stale: false });
});

test("sha256 is the standard's", async () => {
  expect(await sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("texts are compared as bytes", () => {
  expect(equalInConstantTime("key", "key")).toBe(true);
  expect(equalInConstantTime("key", "kez")).toBe(false);
  expect(equalInConstantTime("key", "keys")).toBe(false);
  expect(equalInConstantTime("é", "e\u0301")).toBe(false);
});

test("a token is as long as asked, and never the same", () => {
  expect(fromBase64Url(randomToken(24))).toHaveLength(24);
  expect(new Set(Array.from({ length: 100 }, () => randomToken(8))).size).toBe(100);
  expect(toBase64Url(fromBase64Url("-_8"))).toBe("-_8");
});

test("the secret before the current one stands after a comma", () => {
  expect(secretsOf({ TIFO_SECRET: "new,old" })).toEqual(["new", "old"]);
  expect(secretsOf({ TIFO_SECRET: "only" })).toEqual(["only"]);
});

test("no part of the secret is ever empty", () => {
  expect(secretsOf({ TIFO_SECRET: "only," })).toEqual(["only"]);
  expect(secretsOf({ TIFO_SECRET: ",new, ,old" })).toEqual(["new", "old"]);
  for (const TIFO_SECRET of ["", ",", " , "]) expect(() => secretsOf({ TIFO_SECRET })).toThrow("TIFO_SECRET is empty");
});
