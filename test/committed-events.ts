import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { EVENTS } from "#worker/services/event-catalogue/event-catalogue.ts";
import type { EventKind } from "#worker/services/event-catalogue/event-kind.ts";
import { resourcesOf } from "#worker/services/event-catalogue/event-samples.ts";
import { PASSWORD } from "./harness.ts";

// Compares the events that sites have committed with the catalogue.

const catalogue: Record<string, EventKind | undefined> = EVENTS;
/** Types that the log's own tests use. */
const TEST_TYPES = /^test\./;
const SECRETS = ["tifo_dev_", "tifo_super_", "whsec_", "$scrypt$", PASSWORD, "Bearer ", '"passwordHash"', "Sealed"];
/** The data of an event about a deleted person. */
const ERASED = '{"erased":true}';

const Data = z.record(z.string(), z.unknown());

export async function committedEvents(siteIds: string[]): Promise<LogEntry[]> {
  const logs = await Promise.all(siteIds.map((siteId) => logOf(siteId)));
  return logs.flat().filter(({ type }) => !TEST_TYPES.test(type));
}

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

/** Violations by event type: a type or field that isn't in the catalogue, a wrong resource, or a secret. */
export function eventViolations(events: LogEntry[]): Record<string, unknown> {
  return Object.fromEntries(events.flatMap((event) => violationsOf(event).map((violation) => [event.type, violation])));
}

function violationsOf({ type, resource, data }: LogEntry): unknown[] {
  const kind = catalogue[type];
  if (!kind) return ["not in the catalogue"];
  const secrets = SECRETS.filter((secret) => data.includes(secret)).map((secret) => ({ secret }));
  return data === ERASED ? secrets : [...secrets, ...dataViolations(kind, data), ...resourceViolations(type, kind, resource, data)];
}

function dataViolations(kind: EventKind, text: string): unknown[] {
  const data: unknown = JSON.parse(text);
  const parsed = kind.data.safeParse(data);
  if (!parsed.success) return [{ issues: parsed.error.issues }];
  return JSON.stringify(sorted(parsed.data)) === JSON.stringify(sorted(data)) ? [] : [{ undeclared: data }];
}

function resourceViolations(type: string, kind: EventKind, resource: string, text: string): unknown[] {
  const expected = resourcesOf(type, kind, Data.parse(JSON.parse(text)));
  const matches = expected.some((each) => (each.endsWith("/") ? resource.startsWith(each) : resource === each));
  return matches ? [] : [{ resource, expected }];
}

/** Sorts the fields of every object, so that their order doesn't matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => sorted(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
