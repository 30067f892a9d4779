import { expect, test } from "vitest";
import { equalInConstantTime, fromBase64Url, hashPassword, randomToken, secretsOf, sha256, toBase64Url, verifyPassword } from "./crypto.ts";

test("a password matches its hash, and each hash has its own salt", async () => {
  const [one, other] = [await hashPassword("correct horse"), await hashPassword("correct horse")];
  expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(one).not.toBe(other);
  expect(await verifyPassword("correct horse", one)).toEqual({ valid: true, stale: false });
  expect(await verifyPassword("correct horse ", one)).toEqual({ valid: false, stale: false });
});

test("a password matches in every Unicode form of its accents", async () => {
  expect((await verifyPassword("cafe\u0301", await hashPassword("caf\u00e9"))).valid).toBe(true);
});

test("a hash with other parameters is valid but stale", async () => {
  // The third test vector of RFC 7914, section 12; hashes here are its first 32 bytes.
  const phc = "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI";
  expect(await verifyPassword("pleaseletmein", phc)).toEqual({ valid: true, stale: true });
});

test.for(["", "plain", "$scrypt$", "$argon2id$v=19$m=1$a$b"])("a malformed hash such as %j matches no password", async (phc) => {
  expect(await verifyPassword("anything", phc)).toEqual({ valid: false, stale: false });
});

test("sha256 matches the standard's test vector", async () => {
  expect(await sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("equalInConstantTime compares bytes", () => {
  expect(equalInConstantTime("key", "key")).toBe(true);
  expect(equalInConstantTime("key", "kez")).toBe(false);
  expect(equalInConstantTime("key", "keys")).toBe(false);
  expect(equalInConstantTime("é", "e\u0301")).toBe(false);
});

test("randomToken returns a different token of the requested length each time", () => {
  expect(fromBase64Url(randomToken(24))).toHaveLength(24);
  expect(new Set(Array.from({ length: 100 }, () => randomToken(8))).size).toBe(100);
  expect(toBase64Url(fromBase64Url("-_8"))).toBe("-_8");
});

test("secretsOf reads the previous secret after a comma", () => {
  expect(secretsOf({ TIFO_SECRET: "new,old" })).toEqual(["new", "old"]);
  expect(secretsOf({ TIFO_SECRET: "only" })).toEqual(["only"]);
});

test("secretsOf skips empty parts and rejects an empty secret", () => {
  expect(secretsOf({ TIFO_SECRET: "only," })).toEqual(["only"]);
  expect(secretsOf({ TIFO_SECRET: ",new, ,old" })).toEqual(["new", "old"]);
  for (const TIFO_SECRET of ["", ",", " , "]) expect(() => secretsOf({ TIFO_SECRET })).toThrow("TIFO_SECRET is empty");
});
