import { describe, expect, test } from "vitest";
import { readSigned, signContent } from "./signed.ts";

const env = { TIFO_SECRET: "one secret" };
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The same bytes to a reader that overlooks unused bits: of the last of 43 letters, two count for nothing. */
function withOtherLast(token: string): string {
  return token.slice(0, -1) + (ALPHABET[ALPHABET.indexOf(token.at(-1) ?? "") ^ 1] ?? "");
}

describe("a signed content", () => {
  test("is read as it was signed, also under the secret before", async () => {
    const token = await signContent(env, "test", "site.export.17");
    expect(await readSigned(env, "test", token)).toBe("site.export.17");
    expect(await readSigned({ TIFO_SECRET: "a new one,one secret" }, "test", token)).toBe("site.export.17");
  });

  test.each<[string, (token: string) => string]>([
    ["padded", (token) => `${token}=`],
    ["followed by what base64url has no meaning for", (token) => `${token}!`],
    ["with such a character within its signature", (token) => `${token.slice(0, -5)}*${token.slice(-5)}`],
    ["with another last letter of the same bytes", withOtherLast],
    ["cut short", (token) => token.slice(0, -1)],
    ["of another content", (token) => token.replace("17", "18")],
    ["without a signature", () => "site.export.17"],
    ["of nothing", () => ""],
  ])("is refused where it is %s", async (_, change) => {
    const token = await signContent(env, "test", "site.export.17");
    expect(await readSigned(env, "test", change(token))).toBeUndefined();
  });

  test("is refused for another purpose, and under another secret", async () => {
    const token = await signContent(env, "test", "site.export.17");
    expect(await readSigned(env, "else", token)).toBeUndefined();
    expect(await readSigned({ TIFO_SECRET: "another" }, "test", token)).toBeUndefined();
  });
});
