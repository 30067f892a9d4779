import { describe, expect, test } from "vitest";
import type { AccountRole } from "#db/types.ts";
import { moderatedChannels, moderatesChannel } from "./roles.ts";

const HERE = "5eed0000000000000000c001";
const THERE = "5eed0000000000000000c002";
const role = (scope: AccountRole["scope"], pageId: string[], write = true): AccountRole => ({ scope, pageId, write });

describe("moderatesChannel", () => {
  test.each<[string, AccountRole[], boolean]>([
    ["rejects an account without roles", [], false],
    ["accepts a moderator of the channel", [role("Chat_Moderator", [HERE])], true],
    ["accepts a moderator of every channel", [role("Chat_Moderator", [])], true],
    ["rejects a moderator of another channel", [role("Chat_Moderator", [THERE])], false],
    ["rejects a moderator of the Q&A", [role("Question_Answer_Moderator", [HERE])], false],
    ["rejects a moderator who may only read", [role("Chat_Moderator", [HERE], false)], false],
    ["accepts an admin of the channel", [role("*", [HERE])], true],
    ["rejects an admin of another channel", [role("*", [THERE])], false],
    ["accepts an admin of the site", [role("*", [])], true],
    ["rejects an admin of the site who may only read", [role("*", [], false)], false],
  ])("%s", (_, roles, expected) => {
    expect(moderatesChannel(roles, "Chat_Moderator", HERE, "write")).toBe(expected);
  });

  test("allows a read-only moderator to read", () => {
    expect(moderatesChannel([role("Chat_Moderator", [HERE], false)], "Chat_Moderator", HERE, "read")).toBe(true);
  });
});

test("moderatedChannels lists each channel once, and all of them for a role without channels", () => {
  const roles = [role("Chat_Moderator", [HERE]), role("*", [HERE, THERE])];
  expect(moderatedChannels(roles, "Chat_Moderator", "write")).toEqual([HERE, THERE]);
  expect(moderatedChannels(roles, "Question_Answer_Moderator", "write")).toEqual([HERE, THERE]);
  expect(moderatedChannels([...roles, role("Chat_Moderator", [])], "Chat_Moderator", "write")).toBe("all");
});
