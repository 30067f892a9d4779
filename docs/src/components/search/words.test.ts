import { describe, expect, test } from "vitest";
import { stem, terms } from "./words.ts";

describe("the search terms of a text", () => {
  test("include a compound as a whole and by its parts", () => {
    expect(terms("redirectUri")).toEqual(["redirecturi", "redirect", "uri"]);
    expect(terms("already_answered")).toEqual(["already_answered", "already", "answer"]);
  });

  test("omit punctuation, possessive endings and stop words", () => {
    expect(terms("How do I show a viewer's question?")).toEqual(["show", "viewer", "question"]);
  });

  test.each([
    ["polls", "poll"],
    ["entries", "entry"],
    ["classes", "class"],
    ["created", "creating"],
    ["authenticate", "authentication"],
    ["embedding", "embed"],
    ["moderator", "moderation"],
  ])("treat %s and %s as forms of one word", (one, other) => {
    expect(stem(one)).toBe(stem(other));
  });

  test.each([
    ["question", "quest"],
    ["status", "stat"],
    ["feed", "fe"],
    ["access", "acces"],
  ])("don't confuse %s with %s", (one, other) => {
    expect(stem(one)).not.toBe(stem(other));
  });
});
