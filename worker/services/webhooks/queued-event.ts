import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import type { QueuedEvent } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { servicesOf } from "#worker/services/event-catalogue/event-catalogue.ts";

/** The event for a subscriber of these services; undefined if none of them publishes it. */
export function toQueued(entry: LogEntry, subscribed: readonly string[]): QueuedEvent | undefined {
  const service = servicesOf(entry.type).find((name) => subscribed.includes(name));
  if (service === undefined) return undefined;
  const { id, type, created, sequence, previousSequence, resource, origin } = entry;
  const [method = null, originPath = null] = origin?.split(" ") ?? [];
  const data: unknown = JSON.parse(entry.data);
  const eventData = JSON.stringify({ id, type, created, sequence, previousSequence, resource, data });
  return { id, type, resource, service, eventData, account: accountOf(entry, data), method, originPath };
}

/** The account that an event is about, or the one that caused it. */
function accountOf({ resource, actor }: LogEntry, data: unknown): string | null {
  const [area, id = ""] = resource.split("/");
  if (area === "account") return id;
  if (typeof data === "object" && data !== null && "accountId" in data && typeof data.accountId === "string") return data.accountId;
  const [kind, actorId = null] = actor.split(":");
  return kind === "account" ? actorId : null;
}
