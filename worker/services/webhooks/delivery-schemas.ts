import { z } from "@hono/zod-openapi";
import {
  Attempt,
  type Delivery as DeliveryRow,
  DELIVERY_STATES,
} from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { WebhookPayload } from "./endpoint-schemas.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";

export const Delivery = z
  .object({
    _id: Id,
    eventId: Id,
    type: z.string().openapi({ example: "overlay.broadcast" }),
    resource: z.string(),
    state: z.enum(DELIVERY_STATES).describe("`failed`: given up after the last attempt"),
    nextTry: Time.nullable().describe(
      "When the next attempt is due; null if settled, or waiting for an earlier event of the same resource",
    ),
    created: Time,
    attempts: z.array(Attempt).describe("Every attempt, oldest first"),
  })
  .openapi("WebhookDelivery");

export const DeliveryPayload = z
  .object({
    _id: Id,
    webhookId: Id.describe("The endpoint that it is sent to"),
    payload: z
      .object({
        ...WebhookPayload.shape,
        signature: WebhookPayload.shape.signature.nullable().describe("As sent now; null if the caller may not read the event's data"),
      })
      .describe("The body of the request, as it is sent now: with the endpoint's current URL and secret"),
    attempts: z
      .array(
        z
          .object({
            ...Attempt.shape,
            response: z.string().nullable().describe("The first 1,000 characters of the response; null if it was a success or had no text"),
          })
          .openapi("WebhookAttemptWithResponse"),
      )
      .describe("Every attempt, oldest first"),
  })
  .openapi("WebhookDeliveryPayload");

export const DeliveryListQuery = listQuery(["created"], {
  webhookId: Id.optional().describe("Deliveries of a programmatic webhook; if omitted, of the site's own endpoint"),
  state: z.enum(DELIVERY_STATES).optional(),
  type: z.string().max(100).optional().describe("Only this event type"),
});

export function toDeliveryAnswer({ id, number: _, ...row }: DeliveryRow) {
  return { _id: id, ...row } satisfies z.output<typeof Delivery>;
}
