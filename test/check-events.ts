import { afterAll, expect } from "vitest";
import { committedEvents, eventViolations } from "./committed-events.ts";
import { siteIds } from "./harness.ts";

// After each suite, checks the event logs of all its sites against the catalogue.
afterAll(async () => {
  expect(eventViolations(await committedEvents(siteIds.splice(0)))).toEqual({});
});
