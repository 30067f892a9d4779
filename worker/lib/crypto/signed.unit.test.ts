import { describe, expect, test } from "vitest";
import { readSigned, signContent } from "./signed.ts";

const env = { TIFO_SECRET: "one secret" };
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Decodes to the same bytes if unused bits are ignored: the last of 43 letters has two of them. */
function withOtherLast(token: string): string {
  return token.slice(0, -1) + (ALPHABET[ALPHABET.indexOf(token.at(-1) ?? "") ^ 1] ?? "");
}

describe("a signed token", () => {
  test("is read back, also with a previous secret", async () => {
    const token = await signContent(env, "test", "site.export.17");
    expect(await readSigned(env, "test", token)).toBe("site.export.17");
    expect(await readSigned({ TIFO_SECRET: "a new one,one secret" }, "test", token)).toBe("site.export.17");
  });

  test.each<[string, (token: string) => string]>([
    ["padded", (token) => `${token}=`],
    ["followed by a character outside base64url", (token) => `${token}!`],
    ["with such a character in its signature", (token) => `${token.slice(0, -5)}*${token.slice(-5)}`],
    ["with a different last letter for the same bytes", withOtherLast],
    ["cut short", (token) => token.slice(0, -1)],
    ["with other content", (token) => token.replace("17", "18")],
    ["without a signature", () => "site.export.17"],
    ["empty", () => ""],
  ])("is rejected if it is %s", async (_, change) => {
    const token = await signContent(env, "test", "site.export.17");
    expect(await readSigned(env, "test", change(token))).toBeUndefined();
  });

  test("is rejected for another purpose or secret", async () => {
    const token = await signContent(env, "test", "site.export.17");
    expect(await readSigned(env, "else", token)).toBeUndefined();
    expect(await readSigned({ TIFO_SECRET: "another" }, "test", token)).toBeUndefined();
  });
});
