import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { DEVELOPER } from "#worker/http/credentials.ts";
import { listAnswer, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, IdParam, json, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { listDeliveries, redeliver, sendTest } from "#worker/services/webhooks/deliveries.ts";
import { Delivery, DeliveryListQuery, toDeliveryAnswer } from "#worker/services/webhooks/delivery-schemas.ts";
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
      "What was sent to an endpoint, every try with its answer's status, and when the next try comes; the newest first. A failed delivery is tried again 24 times in about 75 hours, ever more rarely. What is settled is kept for 7 days, at most 20,000.",
    access: { credentials: DEVELOPER },
    request: { query: DeliveryListQuery },
    responses: { 200: json("A page of deliveries", listOf(Delivery).openapi("WebhookDeliveryList")) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listDeliveries(c.var.ctx, query), toDeliveryAnswer), 200);
  },
);

deliveries.openapi(
  operation({
    operationId: "redeliver",
    tag,
    method: "post",
    path: "/webhooks/v1/deliveries/{id}/redeliver",
    summary: "Send a delivery again",
    description:
      "Sends it as soon as may be, whether it was delivered, was given up or waits; its tries begin anew. 409, without any effect, where its endpoint is off.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 202: json("It is on its way", Accepted.openapi("Redelivered")) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await redeliver(c.var.ctx, c.req.valid("param").id);
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
      "Sends a sample to the site's own endpoint, whatever it has subscribed to. Its `sequence` is 0 and its `resource` its own, so it waits for nothing else, and it is not in the log. How it went stands in the list of deliveries.",
    access: { credentials: DEVELOPER },
    request: { body: optionalJsonBody(TestInput) },
    responses: { 202: json("It is on its way", Accepted.extend({ eventId: Id }).openapi("WebhookTested")) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json({ success: true as const, ...(await sendTest(c.var.ctx, c.req.valid("json")?.sampleName)) }, 202),
);
