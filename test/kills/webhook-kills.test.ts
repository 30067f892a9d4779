import { expect, test } from "vitest";
import { changeUnderKills } from "./webhook-kills.ts";

test("a server that is killed twice during changes delivers a webhook for each acknowledged change, in order per resource", async () => {
  const outcome = await changeUnderKills(2, 40);
  expect(outcome.acknowledged).toBeGreaterThan(80);
  expect(outcome).toMatchObject({ undelivered: [], missing: [], orderViolations: [] });
});
