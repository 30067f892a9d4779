import { afterAll, expect } from "vitest";
import { committedEvents, eventFaults } from "./committed-events.ts";
import { siteIds } from "./harness.ts";

// After each suite, whatever it did on its sites has to be in their logs as the catalogue says.
afterAll(async () => {
  expect(eventFaults(await committedEvents(siteIds.splice(0)))).toEqual({});
});
