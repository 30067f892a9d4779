import { z } from "@hono/zod-openapi";

/** Facts as they were last told: `at` in milliseconds, `eventId` of the event that told it (ids sort by time). */
export const KnownFacts = z.record(z.string(), z.object({ value: z.unknown(), at: z.number(), eventId: z.string() }));
export type KnownFacts = z.infer<typeof KnownFacts>;

/** What an event says at a dotted path; undefined where it says nothing. */
export function readFact(event: unknown, path: string): unknown {
  let value = event;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** The value of a known fact; undefined once it is older than the provider's ttl (seconds, null: never). */
export function freshValue(fact: KnownFacts[string] | undefined, ttl: number | null, now: number): unknown {
  if (!fact || (ttl !== null && now - fact.at > ttl * 1000)) return undefined;
  return fact.value;
}

/** What is known after an event. One that comes late, after a newer one told the same fact, changes nothing of it. */
export function learn(known: KnownFacts, paths: Iterable<string>, event: { id: string; at: number; data: unknown }): KnownFacts {
  const next = { ...known };
  for (const path of paths) {
    const value = readFact(event.data, path);
    const before = Object.hasOwn(known, path) ? known[path] : undefined;
    if (value === undefined || (before && before.eventId > event.id)) continue;
    next[path] = { value, at: event.at, eventId: event.id };
  }
  return next;
}
