import { z } from "@hono/zod-openapi";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { type EventData, EVENTS, type EventType } from "./event-catalogue.ts";
import { InvalidEventData } from "./invalid-event-data.ts";

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

/**
 * An event's data. A field that may be null and that an older release didn't log is null. Throws `InvalidEventData` if the data don't match
 * the catalogue otherwise, as after the person that they are about was deleted.
 */
export function dataOf<Type extends EventType>(event: LoggedEvent<Type>): EventData<Type> {
  const schema = KINDS[event.type].data;
  const data: unknown = JSON.parse(event.data);
  const first = schema.safeParse(data);
  if (first.success) return first.data;
  for (const { path } of first.error.issues) addMissing(data, path);
  const second = schema.safeParse(data);
  if (second.success) return second.data;
  throw new InvalidEventData(z.prettifyError(first.error), { cause: first.error });
}

/** Sets the field at this path to null if its object lacks it. */
function addMissing(data: unknown, path: readonly PropertyKey[]): void {
  const field = path.at(-1);
  const holder = path.slice(0, -1).reduce<unknown>((value, key) => (isObject(value) ? Reflect.get(value, key) : undefined), data);
  if (field === undefined || !isObject(holder) || Array.isArray(holder) || Object.hasOwn(holder, field)) return;
  Reflect.set(holder, field, null);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The id in "<area>/<id>". */
export function idOf(event: LogEntry): string {
  return event.resource.slice(event.resource.indexOf("/") + 1);
}
