import { REJECTION_HEADER, type RelayRejection } from "#worker/durable-objects/channel/channel.protocol.ts";

const STATUS: Record<RelayRejection, number> = { full: 503, ticket_used: 401, over_quota: 429, unauthenticated: 401, forbidden: 403 };

/** A relay's response to the Worker for a viewer that it rejects. */
export function rejection(reason: RelayRejection): Response {
  return new Response(null, { status: STATUS[reason], headers: { [REJECTION_HEADER]: reason } });
}
