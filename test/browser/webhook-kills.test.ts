import { expect, test } from "vitest";
import { changeUnderKills } from "./webhook-kills.ts";

test("a server killed twice in the middle of changes tells webhooks of each that it acknowledged, in order per resource", async () => {
  const outcome = await changeUnderKills(2, 40);
  expect(outcome.acknowledged).toBeGreaterThan(80);
  expect(outcome).toMatchObject({ unheard: [], missing: [], orderViolations: [] });
});
