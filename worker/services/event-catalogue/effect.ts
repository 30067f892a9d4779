import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import type { EventType } from "./event-catalogue.ts";

/** An effect of an event. Must be idempotent: the log runs it until it succeeds once. */
export type Effect = (env: Env, siteId: string, event: LogEntry) => Promise<unknown>;

/** An area's effects, by the type of the event. */
export type Effects = Readonly<Partial<Record<EventType, Effect>>>;

/** The id in "<area>/<id>". */
export function idOf(event: LogEntry): string {
  return event.resource.slice(event.resource.indexOf("/") + 1);
}
