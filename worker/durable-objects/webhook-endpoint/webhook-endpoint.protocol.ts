import { z } from "@hono/zod-openapi";

// Messages between the Worker, a site's log and a webhook endpoint. No platform import.

/** An event on its way to an endpoint. */
export interface QueuedEvent {
  id: string;
  type: string;
  resource: string;
  /** The subscribed service that publishes the event. */
  service: string;
  /** JSON text of the payload's `eventData`, which is signed. */
  eventData: string;
  account: string | null;
  method: string | null;
  originPath: string | null;
}

/** One delivery attempt. */
export const Attempt = z
  .object({
    at: z.number().int().describe("Milliseconds since 1970 UTC"),
    duration: z.number().int().describe("Milliseconds until the response or the timeout"),
    status: z.number().int().nullable().describe("HTTP status; null if there was no response"),
    error: z.string().nullable().describe("Why it failed; null if it was delivered"),
  })
  .openapi("WebhookAttempt");

/** An attempt with what the receiver responded, as it is stored. */
export const StoredAttempt = Attempt.extend({ response: z.string().optional() });
export type Attempt = z.infer<typeof StoredAttempt>;

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The delivery of an event to an endpoint. */
export interface Delivery {
  /** Its position in the endpoint's queue. */
  number: number;
  id: string;
  eventId: string;
  type: string;
  resource: string;
  state: DeliveryState;
  /** When it is attempted next; null if it waits for an earlier event of its resource, or is settled. */
  nextTry: number | null;
  created: number;
  attempts: Attempt[];
}

/** What a delivery sends, and every attempt at it. */
export interface SentEvent {
  event: QueuedEvent;
  attempts: Attempt[];
}

/** A page of an endpoint's deliveries: those before a number or, in ascending order, after it. */
export interface DeliveryQuery {
  limit: number;
  offset: number;
  direction: 1 | -1;
  cursor: number | null;
  state: DeliveryState | null;
  type: string | null;
  search: string | null;
}
