import { z } from "@hono/zod-openapi";

// What the Worker, a site's log and a webhook endpoint say to each other. No platform import.

/** An event on its way to an endpoint. */
export interface QueuedEvent {
  id: string;
  type: string;
  resource: string;
  /** The service that the endpoint has subscribed to and that tells of it. */
  service: string;
  /** JSON text of the payload's `eventData`: what is signed. */
  eventData: string;
  account: string | null;
  method: string | null;
  originPath: string | null;
}

/** One try. */
export const Attempt = z
  .object({
    at: z.number().int().describe("Milliseconds since 1970 UTC"),
    duration: z.number().int().describe("Milliseconds until it was answered or given up"),
    status: z.number().int().nullable().describe("HTTP status; null where no answer came"),
    error: z.string().nullable().describe("Why it failed; null where it was delivered"),
  })
  .openapi("WebhookAttempt");
export type Attempt = z.infer<typeof Attempt>;

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What became of an event at an endpoint. */
export interface Delivery {
  /** Its place in the endpoint's queue. */
  number: number;
  id: string;
  eventId: string;
  type: string;
  resource: string;
  state: DeliveryState;
  /** When it is tried next; null where it waits for an earlier event of its resource, or is settled. */
  nextTry: number | null;
  created: number;
  attempts: Attempt[];
}

/** A page of an endpoint's deliveries: those before (or, upward, after) a number. */
export interface DeliveryQuery {
  limit: number;
  offset: number;
  direction: 1 | -1;
  cursor: number | null;
  state: DeliveryState | null;
  type: string | null;
  search: string | null;
}
