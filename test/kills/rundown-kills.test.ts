import { expect, test } from "vitest";
import { takeUnderKills } from "./rundown-kills.ts";

test("two operators who press at the same instant 200 times, while the server is killed twice, get one broadcast each", async () => {
  expect(await takeUnderKills(2, 99)).toEqual({ takes: 200, different: [], misrecorded: [], lost: [], twice: [] });
});
