import { expect, test } from "vitest";
import { scoreUnderKills } from "./rule-kills.ts";

test("a server that is killed twice between an event and its overlay loses none and shows none twice", async () => {
  expect(await scoreUnderKills(2, 10)).toEqual({ goals: 22, lost: [], twice: [] });
});
