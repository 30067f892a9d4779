import { describe, expect, test } from "vitest";
import { maskLinks } from "./links.ts";

describe("maskLinks", () => {
  test.each([
    ["masks a URL", "see https://evil.example/x?y=1 now", "see [link] now"],
    ["masks a bare domain", "go to evil.com/page!", "go to [link]!"],
    ["masks a bare domain of two letters", "bit.ly/abc", "[link]"],
    ["masks newer domains", "my.shop and try.xyz", "[link] and [link]"],
    ["masks an email address", "mail me@evil.com please", "mail [link] please"],
    ["masks an address of digits", "http://192.168.0.1 and 10.0.0.1/x", "[link] and [link]"],
    ["masks internationalized domains", "https://пример.рф/путь", "[link]"],
    ["masks a link disguised by zero-width characters", "ev\u200bil\u2060.c\u200dom", "[link]"],
    ["masks a link disguised by spaces around the dot", "evil . com and evil .com", "[link] and [link]"],
    ["masks a link disguised by spaces between its letters", "go e v i l . c o m now", "go [link] now"],
    ["masks a link disguised by spaces in its scheme", "https : // evil.com", "[link]"],
    ["masks a spelled-out dot", "evil dot com, evil (dot) com, evil[.]com", "[link], [link], [link]"],
    ["keeps sentences", "Goal. So good! What a save... 3.5 xG, e.g. this", "Goal. So good! What a save... 3.5 xG, e.g. this"],
    ["keeps scores, times and dots", "2 . 1 at 20.45, v1.2.3 . . .", "2 . 1 at 20.45, v1.2.3 . . ."],
    ["keeps single letters", "a b c d e", "a b c d e"],
    ["keeps emoji beside a link", "🎉evil.com🎉", "🎉[link]🎉"],
  ])("%s", (_, text, expected) => {
    expect(maskLinks(text)).toBe(expected);
  });
});
