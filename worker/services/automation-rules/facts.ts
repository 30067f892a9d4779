import { z } from "@hono/zod-openapi";

/** The last known value of each fact, with the event that set it: `at` in milliseconds, ids sort by time. */
export const KnownFacts = z.record(z.string(), z.object({ value: z.unknown(), at: z.number(), eventId: z.string() }));
export type KnownFacts = z.infer<typeof KnownFacts>;

/** The value at a dotted path of an event; undefined if there is none. */
export function readFact(event: unknown, path: string): unknown {
  let value = event;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** The value of a known fact; undefined once it is older than the provider's ttl (in seconds; null means no expiry). */
export function freshValue(fact: KnownFacts[string] | undefined, ttl: number | null, now: number): unknown {
  if (!fact || (ttl !== null && now - fact.at > ttl * 1000)) return undefined;
  return fact.value;
}

/** The known facts after an event. An event doesn't overwrite a fact that a newer event has set. */
export function updateFacts(known: KnownFacts, paths: Iterable<string>, event: { id: string; at: number; data: unknown }): KnownFacts {
  const next = { ...known };
  for (const path of paths) {
    const value = readFact(event.data, path);
    const previous = Object.hasOwn(known, path) ? known[path] : undefined;
    if (value === undefined || (previous && previous.eventId > event.id)) continue;
    next[path] = { value, at: event.at, eventId: event.id };
  }
  return next;
}
