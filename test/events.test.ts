import { beforeAll, expect, test } from "vitest";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { committedEvents, eventViolations } from "./committed-events.ts";
import { validCall } from "./contract-requests.ts";
import { newSite, PASSWORD } from "./harness.ts";
import { operations } from "./openapi.ts";

// The events of one call of each operation that changes data. The events of every other suite are checked when it ends.

let events: LogEntry[];

beforeAll(async () => {
  const site = await newSite();
  // The contract test checks that each call succeeds.
  for (const operation of operations.filter(({ method }) => method !== "get"))
    await validCall(site, operation)
      .then((options) => site.call(operation.operationId, options))
      .catch(() => undefined);
  events = await committedEvents([site.id]);
});

test("every committed event is in the catalogue, matches its schema exactly and contains no secret", () => {
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(50);
  expect(eventViolations(events)).toEqual({});
});

test.each<[violation: string, change: Partial<LogEntry>]>([
  ["a type that the catalogue doesn't have", { type: "page.imagined" }],
  ["a wrong resource", { resource: "page/5eed00000000000000000000" }],
  ["data of another shape", { data: '{"_id":1}' }],
  ["an undeclared field", { data: "undeclared" }],
  ["a secret", { data: "secret" }],
])("the check finds %s", (_, change) => {
  const event = events.find(({ type }) => type === "overlay.created");
  if (!event) throw new Error("No overlay was created");
  const extra = change.data === "undeclared" ? { imagined: true } : change.data === "secret" ? { name: PASSWORD } : undefined;
  const data: unknown = JSON.parse(event.data);
  const changed = extra && typeof data === "object" ? { data: JSON.stringify({ ...data, ...extra }) } : change;
  expect(Object.keys(eventViolations([event]))).toEqual([]);
  expect(Object.keys(eventViolations([{ ...event, ...changed }]))).toEqual([change.type ?? event.type]);
});
