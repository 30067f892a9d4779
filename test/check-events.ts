import { afterAll, expect } from "vitest";
import { committedEvents, eventViolations } from "./committed-events.ts";
import { siteIds } from "./harness.ts";

// After each suite, whatever it did on its sites has to be in their logs as the catalogue says.
afterAll(async () => {
  expect(eventViolations(await committedEvents(siteIds.splice(0)))).toEqual({});
});
