import { expect, test } from "vitest";
import { accessOf } from "./access.ts";

const CHANNEL = "5eed0000000000000000c001";
const OTHER = "5eed0000000000000000c002";

test("a site admin sees and changes everything", () => {
  const access = accessOf([{ scope: "*", pageId: [], write: true }]);
  expect(access).toMatchObject({ isSiteAdmin: true, writesSite: true, isAdmin: true, isModerator: true, title: "Site admin" });
  expect(access.managesChannel(OTHER, "write")).toBe(true);
});

test("a site admin who only reads changes nothing", () => {
  const access = accessOf([{ scope: "*", pageId: [], write: false }]);
  expect(access).toMatchObject({ isSiteAdmin: true, writesSite: false, title: "Site admin, read-only" });
  expect([access.managesChannel(CHANNEL, "read"), access.managesChannel(CHANNEL, "write")]).toEqual([true, false]);
});

test("a channel admin manages the channels of the role only", () => {
  const access = accessOf([{ scope: "*", pageId: [CHANNEL], write: true }]);
  expect(access).toMatchObject({ isSiteAdmin: false, writesSite: false, isAdmin: true, title: "Channel admin" });
  expect([access.managesChannel(CHANNEL, "write"), access.managesChannel(OTHER, "read")]).toEqual([true, false]);
  expect([access.worksWith(CHANNEL), access.worksWith(OTHER)]).toEqual([true, false]);
});

test("a moderator moderates, and manages nothing", () => {
  const access = accessOf([{ scope: "Chat_Moderator", pageId: [CHANNEL], write: true }]);
  expect(access).toMatchObject({ isAdmin: false, isModerator: true, title: "Moderator" });
  expect(access.managesChannel(CHANNEL, "read")).toBe(false);
  expect([access.moderated("Chat_Moderator", "write"), access.moderated("Question_Answer_Moderator", "read")]).toEqual([[CHANNEL], []]);
  expect([access.moderates("Chat_Moderator", CHANNEL, "write"), access.moderates("Chat_Moderator", OTHER, "read")]).toEqual([true, false]);
  expect([access.worksWith(CHANNEL), access.worksWith(OTHER)]).toEqual([true, false]);
});

test("a viewer has no access", () => {
  expect(accessOf([])).toMatchObject({ isAdmin: false, isModerator: false, title: "Viewer" });
});
