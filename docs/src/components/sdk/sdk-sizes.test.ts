import { expect, test } from "vitest";
import { sdkSizes } from "../../../integrations/sdk-sizes.ts";

test("an adapter of a video player adds at most 6 kB to an app, and the cues alone at most 5 kB", async () => {
  const { createCues, ...adapters } = await sdkSizes();
  expect(Object.keys(adapters).sort()).toEqual(["dashJs", "hlsJs", "shakaPlayer", "videoElement", "videoJs"]);
  // Without its own code, a part would be a few bytes.
  for (const [name, bytes] of Object.entries(adapters)) {
    expect(bytes, name).toBeGreaterThan(500);
    expect(bytes, name).toBeLessThanOrEqual(6000);
  }
  expect(createCues).toBeLessThanOrEqual(5000);
});
