import { expect, test } from "vitest";
import { chatUnderKills } from "./chat-kills.ts";

test("a server that is killed twice during a chat loses and repeats no acknowledged message, and keeps removals and bans", async () => {
  const outcome = await chatUnderKills(2, 40);
  expect(outcome.acknowledged).toBeGreaterThanOrEqual(80);
  expect(outcome.removals).toBeGreaterThan(0);
  expect(outcome.bans).toBeGreaterThan(0);
  expect(outcome).toMatchObject({ lost: [], doubled: [], returned: [], unbanned: [], gaps: [] });
});
