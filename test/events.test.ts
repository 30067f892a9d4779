import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { beforeAll, describe, expect, test } from "vitest";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { EVENTS } from "#worker/services/event-catalogue/event-catalogue.ts";
import type { EventKind } from "#worker/services/event-catalogue/event-kind.ts";
import { resourcesOf } from "#worker/services/event-catalogue/event-samples.ts";
import { operations } from "./openapi.ts";
import { validCall } from "./contract-requests.ts";
import { newSite, PASSWORD, siteIds, type TestSite } from "./harness.ts";

// What all suites before this one have made happen; alone, it calls each operation that changes something once.

const catalogue: Record<string, EventKind | undefined> = EVENTS;
// Made by tests of the log itself.
const OF_TESTS = /^test\./;

const Told = z.record(z.string(), z.unknown());

/** Whoever speaks of a deleted person says no more than that. */
const ERASED = '{"erased":true}';

async function logOf(siteId: string): Promise<LogEntry[]> {
  const log = env.SITE_LOG.getByName(siteId);
  await log.nudge();
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await log.read({ after: entries.at(-1)?.sequence ?? 0, limit: 500, types: null });
    if (page.entries.length === 0) return entries;
    entries.push(...page.entries);
  }
}

async function allEvents(): Promise<LogEntry[]> {
  const logs = await Promise.all(siteIds.map((siteId) => logOf(siteId)));
  return logs.flat().filter(({ type }) => !OF_TESTS.test(type));
}

/** Whether a call succeeds is for the contract's test to say. */
async function callEach(site: TestSite): Promise<void> {
  for (const operation of operations.filter(({ method }) => method !== "get"))
    await validCall(site, operation)
      .then((options) => site.call(operation.operationId, options))
      .catch(() => undefined);
}

describe("every event that was committed", () => {
  let events: LogEntry[];

  beforeAll(async () => {
    if (siteIds.length === 0) await callEach(await newSite());
    events = await allEvents();
  });

  test("is in the catalogue", () => {
    expect(events.length).toBeGreaterThan(50);
    expect([...new Set(events.map(({ type }) => type))].filter((type) => !catalogue[type])).toEqual([]);
  });

  test("tells what the catalogue says, and nothing else", () => {
    const wrong = new Map<string, unknown>();
    for (const { type, data } of events) {
      const told: unknown = JSON.parse(data);
      const parsed = catalogue[type]?.data.safeParse(told);
      if (!parsed || data === ERASED) continue;
      if (!parsed.success) wrong.set(type, parsed.error.issues);
      else if (JSON.stringify(sorted(parsed.data)) !== JSON.stringify(sorted(told))) wrong.set(type, told);
    }
    expect(Object.fromEntries(wrong)).toEqual({});
  });

  test("happened to what the catalogue says", () => {
    const wrong = new Map<string, { resource: string; expected: string[] }>();
    for (const { type, resource, data } of events) {
      const kind = catalogue[type];
      if (!kind || data === ERASED) continue;
      const expected = resourcesOf(type, kind, Told.parse(JSON.parse(data)));
      const isExpected = expected.some((each) => (each.endsWith("/") ? resource.startsWith(each) : resource === each));
      if (!isExpected) wrong.set(type, { resource, expected });
    }
    expect(Object.fromEntries(wrong)).toEqual({});
  });

  test("holds no secret", () => {
    const secrets = ["tifo_dev_", "tifo_super_", "whsec_", "$scrypt$", PASSWORD, "Bearer ", '"passwordHash"', "Sealed"];
    for (const { type, data } of events)
      expect(
        secrets.filter((secret) => data.includes(secret)),
        type,
      ).toEqual([]);
  });
});

/** The same with the fields of every object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
