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
      "Creates a payment page for the account, for a single payment or, if the subscription recurs, monthly or yearly payments. Once it is paid, the account holds the sku and receives a receipt by email. 409 if the account already holds it, or it isn't sold through Stripe.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: IdParam, body: jsonBody(CheckoutInput) },
    responses: { 200: json("The payment page", CheckoutAnswer) },
    errors: ["not_found", "conflict", "billing_not_configured"],
  }),
  async (c) => c.json(await checkoutSubscription(c.get("ctx"), c.req.valid("param").id, c.req.valid("json")), 200),
);
