import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, IdParam, json, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { listDeliveries, readPayload, redeliver, sendTest } from "#worker/services/webhooks/deliveries.ts";
import { Delivery, DeliveryListQuery, DeliveryPayload, toDeliveryAnswer } from "#worker/services/webhooks/delivery-schemas.ts";
import { TestInput } from "#worker/services/webhooks/endpoint-schemas.ts";

export const deliveries = createArea();
const tag = "Webhooks";
const Accepted = z.object({ success: z.literal(true) });

deliveries.openapi(
  operation({
    operationId: "listDeliveries",
    tag,
    method: "get",
    path: "/webhooks/v1/deliveries",
    summary: "List deliveries",
    description:
      "The deliveries to an endpoint, newest first, with every attempt, its response status, and the time of the next attempt. A failed delivery is retried 24 times over about 75 hours, with increasing delays. Settled deliveries are kept for 7 days, at most 20,000.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: DeliveryListQuery },
    responses: { 200: json("A page of deliveries", listOf(Delivery).openapi("WebhookDeliveryList")) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listDeliveries(c.get("ctx"), query), toDeliveryAnswer), 200);
  },
);

deliveries.openapi(
  operation({
    operationId: "getDeliveryPayload",
    tag,
    method: "get",
    path: "/webhooks/v1/deliveries/{id}/payload",
    summary: "Get the payload of a delivery",
    description:
      "What a delivery sends, and the beginning of the response to each failed attempt. For a key without `account:read`, events of `account-service-v3` only have ids, and neither signature nor responses.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The payload and the attempts", DeliveryPayload) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await readPayload(c.get("ctx"), c.req.valid("param").id), 200),
);

deliveries.openapi(
  operation({
    operationId: "redeliver",
    tag,
    method: "post",
    path: "/webhooks/v1/deliveries/{id}/redeliver",
    summary: "Send a delivery again",
    description:
      "Sends a delivered, failed or pending delivery again as soon as possible, with a new set of attempts. 409 if its endpoint is disabled.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 202: json("The delivery is queued", Accepted.openapi("Redelivered")) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await redeliver(c.get("ctx"), c.req.valid("param").id);
    return c.json({ success: true as const }, 202);
  },
);

deliveries.openapi(
  operation({
    operationId: "testWebhooks",
    tag,
    method: "post",
    path: "/webhooks/v1/test",
    summary: "Send a test event",
    description:
      "Sends a sample to the site's own endpoint, regardless of its subscriptions. It has `sequence` 0 and its own `resource`, so it waits for no other event, and it isn't in the event log. See its result in the list of deliveries.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: optionalJsonBody(TestInput) },
    responses: { 202: json("The delivery is queued", Accepted.extend({ eventId: Id }).openapi("WebhookTested")) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json({ success: true as const, ...(await sendTest(c.get("ctx"), c.req.valid("json")?.sampleName)) }, 202),
);
