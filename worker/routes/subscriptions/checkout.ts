import { createArea } from "#worker/http/area.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { checkoutSubscription } from "#worker/services/billing/checkout.ts";
import { CheckoutAnswer, CheckoutInput } from "#worker/services/billing/schemas.ts";

export const checkout = createArea();

checkout.openapi(
  operation({
    operationId: "checkoutSubscription",
    tag: "Subscriptions",
    method: "post",
    path: "/subscription/v2/{id}/checkout",
    summary: "Buy a subscription",
    description:
      "Opens a payment page for the account, once or, where the subscription recurs, each month or year. Once it is paid, the account holds the sku, and a receipt is mailed. 409 where the account holds it already, or it is sold elsewhere.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: IdParam, body: jsonBody(CheckoutInput) },
    responses: { 200: json("The payment page", CheckoutAnswer) },
    errors: ["not_found", "conflict", "unavailable", "billing_not_configured"],
  }),
  async (c) => c.json(await checkoutSubscription(c.var.ctx, c.req.valid("param").id, c.req.valid("json")), 200),
);
