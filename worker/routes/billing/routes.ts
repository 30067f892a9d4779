import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, DEVELOPER, DEVELOPER_OR_ACCOUNT, STRIPE_SIGNATURE } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { checkApplePay, refundCharge } from "#worker/services/billing/billing.ts";
import { listCharges } from "#worker/services/billing/charges.ts";
import { Donation, DonationInput, toDonation } from "#worker/services/billing/donation-schemas.ts";
import { checkoutDonation, listDonations } from "#worker/services/billing/donations.ts";
import { connectAccount, readConnection } from "#worker/services/billing/stripe-connect.ts";
import { receiveEvent } from "#worker/services/billing/stripe-events.ts";
import { ConnectInput, ConnectLink, StripeConnection, toConnection } from "#worker/services/billing/connect-schemas.ts";
import {
  ApplePayInput,
  Charge,
  ChargeFilters,
  ChargeResult,
  CheckoutAnswer,
  RefundRequest,
  toCharge,
} from "#worker/services/billing/schemas.ts";

export const billing = createArea();
const tag = "Billing";

const NO_REFUND_REQUEST = "Request body was not a valid RefundRequest or The amount refunded must be larger than 0.";

billing.openapi(
  operation({
    operationId: "listCharges",
    tag,
    method: "get",
    path: "/billing/v1/charges",
    summary: "List charges",
    description:
      "Lists the caller's charges, newest first, with receipt numbers. Site admins can also list those of another account, or of the whole site.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { query: listQuery(["created"], ChargeFilters) },
    responses: { 200: json("A page of charges", listOf(Charge).openapi("ChargeList")) },
    errors: ["forbidden"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listCharges(c.get("ctx"), query), toCharge), 200);
  },
);

billing.openapi(
  operation({
    operationId: "refundCharge",
    tag,
    method: "post",
    path: "/billing/v1/refund",
    summary: "Refund a charge",
    description:
      "Refunds all or part of a charge. The refunds of a charge never exceed it. A full refund ends what was bought. If Stripe rejects the refund, or hasn't confirmed it yet, the response is a 200 with `success: false` and an `errorMessage`; a pending refund settles automatically.",
    access: { credentials: ACCOUNT },
    input: { invalidMessage: NO_REFUND_REQUEST },
    request: { body: jsonBody(RefundRequest) },
    responses: { 200: json("The result of the refund", ChargeResult) },
    errors: ["not_found", "conflict", "billing_not_configured"],
  }),
  async (c) => c.json(await refundCharge(c.get("ctx"), c.req.valid("json")), 200),
);

billing.openapi(
  operation({
    operationId: "checkoutDonation",
    tag,
    method: "post",
    path: "/billing/v1/donations/checkout",
    summary: "Open a payment page for a donation",
    description:
      "Opens a payment page of Stripe for a donation of one of a `donations` panel's amounts, or of any amount within its limits. When it is paid, `donation.paid` is published and the panel's overlay is shown on the channel. The charge is listed, receipted and refunded like any other.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { body: jsonBody(DonationInput) },
    responses: { 200: json("The payment page", CheckoutAnswer) },
    errors: ["conflict", "billing_not_configured"],
  }),
  async (c) => c.json(await checkoutDonation(c.get("ctx"), c.req.valid("json")), 200),
);

billing.openapi(
  operation({
    operationId: "listDonations",
    tag,
    method: "get",
    path: "/billing/v1/donations",
    summary: "List donations",
    description: "Lists the site's paid donations with the name and message of each donor, the latest first.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: listQuery(["paid"], { panelId: Id.optional() }) },
    responses: { 200: json("A page of donations", listOf(Donation).openapi("DonationList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listDonations(c.get("ctx"), query), toDonation), 200);
  },
);

billing.openapi(
  operation({
    operationId: "connectStripe",
    tag,
    method: "post",
    path: "/billing/v1/connect",
    summary: "Connect a Stripe account",
    description:
      "Creates a link to the page at Stripe where the site's owner connects the account that buyers pay. The account is created with the site's first link; every later link is for the same account. A link can be used once: send it only to the owner.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    request: { body: jsonBody(ConnectInput) },
    responses: { 200: json("The link", ConnectLink) },
    errors: ["conflict", "billing_not_configured"],
  }),
  async (c) => c.json(await connectAccount(c.get("ctx"), c.req.valid("json")), 200),
);

billing.openapi(
  operation({
    operationId: "getStripeConnection",
    tag,
    method: "get",
    path: "/billing/v1/connect",
    summary: "Get the Stripe connection",
    description:
      "Returns whether the site has connected its Stripe account, whether buyers can pay, and what Stripe still needs from the owner.",
    access: { credentials: DEVELOPER },
    request: {},
    responses: { 200: json("The connection's current state at Stripe", StripeConnection) },
    errors: ["unavailable", "billing_not_configured"],
  }),
  async (c) => c.json(toConnection(await readConnection(c.get("ctx"))), 200),
);

billing.openapi(
  operation({
    operationId: "verifyApplePay",
    tag,
    method: "put",
    path: "/billing/v1/status/apple-pay-verify",
    summary: "Verify a domain for Apple Pay",
    description: "Registers one of the site's domains with Stripe, and returns whether Apple Pay can be offered on it.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: optionalJsonBody(ApplePayInput) },
    responses: { 200: json("Whether Apple Pay can be offered", z.boolean()) },
    errors: ["conflict", "billing_not_configured"],
  }),
  async (c) => c.json(await checkApplePay(c.get("ctx"), c.req.valid("json").domain), 200),
);

billing.openapi(
  operation({
    operationId: "receiveStripeEvent",
    tag,
    method: "post",
    path: "/billing/v1/stripe/webhook",
    summary: "Receive a Stripe event",
    description:
      "The webhook endpoint for Stripe, which reports payments, refunds and cancellations, signed in `Stripe-Signature`. Events may arrive twice and in any order: the current state is always read from Stripe.",
    access: { credentials: STRIPE_SIGNATURE },
    request: {
      // Read unparsed: the signature covers the bytes.
      body: {
        required: true as const,
        content: { "application/json; charset=utf-8": { schema: { type: "object", description: "A Stripe event" } } },
      },
    },
    responses: { 200: json("The event is processed", z.object({ received: z.literal(true) }).openapi("ReceivedStripeEvent")) },
    errors: ["unauthenticated", "conflict", "billing_not_configured"],
  }),
  async (c) => {
    await receiveEvent(c.get("ctx"), await c.req.text(), c.req.header("Stripe-Signature") ?? "");
    return c.json({ received: true as const }, 200);
  },
);
