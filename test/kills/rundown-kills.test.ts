import { expect, test } from "vitest";
import { takeUnderKills } from "./rundown-kills.ts";

test("a server that is killed during a take of two operators loses none, doubles none, and gives both the same", async () => {
  expect(await takeUnderKills(2, 10)).toEqual({ takes: 22, different: [], misrecorded: [], lost: [], twice: [] });
});
