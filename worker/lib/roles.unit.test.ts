import { describe, expect, test } from "vitest";
import type { AccountRole } from "#db/types.ts";
import {
  addsRoles,
  isCreator,
  isSiteAdmin,
  keyAllows,
  managedChannels,
  managesPage,
  moderatedChannels,
  moderatesChannel,
} from "./roles.ts";

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

test.each<[string[], boolean, boolean]>([
  [[], false, false],
  [["*"], true, true],
  [["poll:write"], true, true],
  [["poll:read"], true, false],
  [["quest:write", "polls:write", "poll"], false, false],
])("a key with the roles %j may read polls: %s, and write them: %s", (roles, reads, writes) => {
  expect([keyAllows(roles, "poll", "read"), keyAllows(roles, "poll", "write")]).toEqual([reads, writes]);
});

describe("an account", () => {
  const NOTHING = { admin: [false, false], creator: [false, false], here: [false, false], channels: [] };
  const reads = [true, false];
  const writes = [true, true];

  test.each<[string, AccountRole[], { admin: boolean[]; creator: boolean[]; here: boolean[]; channels: "all" | string[] }]>([
    ["without roles manages nothing", [], NOTHING],
    ["that moderates manages nothing", [role("Chat_Moderator", []), role("Question_Answer_Moderator", [HERE])], NOTHING],
    ["that administers the site manages all pages", [role("*", [])], { ...NOTHING, admin: writes, here: writes, channels: "all" }],
    ["that may read as an admin reads all pages", [role("*", [], false)], { ...NOTHING, admin: reads, here: reads, channels: "all" }],
    ["that administers a channel manages it", [role("*", [HERE])], { ...NOTHING, creator: writes, here: writes, channels: [HERE] }],
    ["that may read a channel reads it", [role("*", [HERE], false)], { ...NOTHING, creator: reads, here: reads, channels: [HERE] }],
    ["that administers another one doesn't manage it", [role("*", [THERE])], { ...NOTHING, creator: writes, channels: [THERE] }],
    [
      "has what each of its roles allows",
      [role("Chat_Moderator", [HERE]), role("*", [THERE]), role("*", [HERE], false)],
      { ...NOTHING, creator: writes, here: reads, channels: [THERE, HERE] },
    ],
  ])("%s", (_, roles, expected) => {
    const both = (check: (action: "read" | "write") => boolean) => [check("read"), check("write")];
    expect({
      admin: both((action) => isSiteAdmin(roles, action)),
      creator: both((action) => isCreator(roles, action)),
      here: both((action) => managesPage(roles, HERE, action)),
      channels: managedChannels(roles),
    }).toEqual(expected);
  });
});

test.each<[string, AccountRole[], AccountRole[], boolean]>([
  ["nothing to nothing", [], [], false],
  ["a role to nothing", [], [role("*", [HERE], false)], true],
  ["nothing by keeping one", [role("*", [])], [role("*", [])], false],
  ["nothing by losing one", [role("*", [])], [], false],
  ["writing to reading", [role("*", [], false)], [role("*", [])], true],
  ["nothing by only reading", [role("*", [])], [role("*", [], false)], false],
  ["the site to a channel", [role("*", [HERE])], [role("*", [])], true],
  ["nothing by being limited to channels", [role("*", [])], [role("*", [HERE, THERE])], false],
  ["a channel to another one", [role("*", [HERE])], [role("*", [HERE, THERE])], true],
  ["nothing by having two roles in one", [role("*", [HERE]), role("*", [THERE])], [role("*", [HERE, THERE])], false],
  ["nothing by having one role in two", [role("*", [HERE, THERE])], [role("*", [THERE]), role("*", [HERE])], false],
  ["writing, which another channel has", [role("*", [HERE], false), role("*", [THERE])], [role("*", [HERE])], true],
  ["a moderator of the chat to one of the Q&A", [role("Question_Answer_Moderator", [])], [role("Chat_Moderator", [])], true],
  ["an admin to a moderator", [role("Chat_Moderator", [])], [role("*", [])], true],
  ["nothing to an admin by moderating", [role("*", [HERE])], [role("Chat_Moderator", [HERE])], false],
  ["moderating elsewhere to an admin of a channel", [role("*", [HERE])], [role("Chat_Moderator", [THERE])], true],
])("addsRoles: %s", (_, before, after, expected) => {
  expect(addsRoles(before, after)).toBe(expected);
});
