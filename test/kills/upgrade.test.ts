import { expect, test } from "vitest";
import { upgradeUnderLoad } from "./upgrade.ts";

test("an upgrade from the previous release under load loses nothing, doubles nothing and signs nobody out", async () => {
  const { acknowledged, ...wrong } = await upgradeUnderLoad(2);
  for (const [what, count] of Object.entries(acknowledged)) expect(count, what).toBeGreaterThan(5);
  expect(wrong).toEqual({ lost: [], doubled: [], gaps: [], restarted: [], rejected: [] });
});
