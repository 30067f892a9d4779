import { REFUSAL_HEADER, type RelayRefusal } from "#worker/durable-objects/channel/channel.protocol.ts";

const STATUS: Record<RelayRefusal, number> = { full: 503, spent: 401, crowded: 429, unauthenticated: 401, forbidden: 403 };

/** A relay's answer to the Worker about a viewer that it doesn't take. */
export function refusal(reason: RelayRefusal): Response {
  return new Response(null, { status: STATUS[reason], headers: { [REFUSAL_HEADER]: reason } });
}
