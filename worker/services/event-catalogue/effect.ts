import type { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { type EventData, EVENTS, type EventType } from "./event-catalogue.ts";

/** An event of this type, as the log stores it. */
export interface LoggedEvent<Type extends EventType = EventType> extends LogEntry {
  type: Type;
}

/** An effect of events of this type. Must be idempotent: the log runs it until it succeeds once. */
export type Effect<Type extends EventType = EventType> = (env: Env, siteId: string, event: LoggedEvent<Type>) => Promise<unknown>;

/** An area's effects, by the type of the event. */
export type Effects = { readonly [Type in EventType]?: Effect<Type> };

// In this form the compiler relates each type to its data.
const KINDS: { readonly [Type in EventType]: { data: z.ZodType<EventData<Type>> } } = EVENTS;

/** An event's data. Throws if they don't match the catalogue, as after the person that they are about was deleted. */
export function dataOf<Type extends EventType>(event: LoggedEvent<Type>): EventData<Type> {
  return KINDS[event.type].data.parse(JSON.parse(event.data));
}

/** The id in "<area>/<id>". */
export function idOf(event: LogEntry): string {
  return event.resource.slice(event.resource.indexOf("/") + 1);
}
