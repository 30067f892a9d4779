import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagPublicPart, tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { isManager } from "#worker/services/core/context.ts";
import { revokeEntitlement } from "#worker/services/subscriptions/entitlements.ts";
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  getSubscriptionBySku,
  grantSku,
  listEntitlements,
  listOwnEntitlements,
  listSubscriptions,
  updateSubscription,
} from "#worker/services/subscriptions/subscriptions.ts";
import { Success } from "#worker/services/accounts/schemas.ts";
import {
  AccountEntitlement,
  AccountParam,
  EntitlementFilters,
  Granted,
  GrantInput,
  RevokeQuery,
  SkuParam,
  Subscription,
  SubscriptionFilters,
  SubscriptionInput,
  SubscriptionPatch,
  toAccountEntitlement,
  toPublicSubscription,
  toSubscription,
} from "#worker/services/subscriptions/schemas.ts";
import type { SubscriptionRow } from "#db/schema/commerce/subscriptions.ts";

export const subscriptions = createArea();
const tag = "Subscriptions";
const reading = {
  access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "signedIn" },
} as const;
const managing = "The ids at the payment provider are returned only to developer keys and site admins.";

async function showSubscription(c: Context<AppEnv>, subscription: SubscriptionRow) {
  if (isManager(await c.get("ctx").caller())) {
    tagVersion(c, subscription);
    return toSubscription(subscription);
  }
  await tagPublicPart(c, subscription);
  return toPublicSubscription(subscription);
}

subscriptions.openapi(
  operation({
    operationId: "listSubscriptions",
    tag,
    method: "get",
    path: "/subscription/v2",
    summary: "List subscriptions",
    description: "The site's subscriptions, last changed first. `search` matches name and sku. " + managing,
    ...reading,
    request: { query: listQuery(["modified", "created", "name", "sku"], SubscriptionFilters) },
    responses: { 200: json("A page of subscriptions", listOf(Subscription).openapi("SubscriptionList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listSubscriptions(c.get("ctx"), query);
    const show = isManager(await c.get("ctx").caller()) ? toSubscription : toPublicSubscription;
    return c.json(listResponse(c.req.url, query, page, show), 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "createSubscription",
    tag,
    method: "post",
    path: "/subscription/v2",
    summary: "Create a subscription",
    description:
      "Creates a subscription with a sku that is unique on the site: gates require it, codes and links grant it, and `POST /subscription/v2/{id}/checkout` sells it if the provider is Stripe. A free subscription has no prices; otherwise exactly one price is the default.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(SubscriptionInput) },
    responses: { 201: json("The subscription", Subscription) },
    errors: ["conflict"],
  }),
  async (c) => {
    const subscription = await createSubscription(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, subscription);
    return c.json(toSubscription(subscription), 201);
  },
);

subscriptions.openapi(
  operation({
    operationId: "grantSubscription",
    tag,
    method: "post",
    path: "/subscription/v2/grant",
    summary: "Grant a subscription",
    description: "Grants a subscription's sku to an account without payment. If the account already holds it, nothing changes.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(GrantInput) },
    responses: { 200: json("The entitlement is granted", Granted) },
    errors: ["not_found"],
  }),
  async (c) => {
    const entitlement = await grantSku(c.get("ctx"), c.req.valid("json"));
    return c.json({ success: true as const, accountEntitlementId: entitlement.id }, 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "revokeSubscription",
    tag,
    method: "post",
    path: "/subscription/v2/revoke",
    summary: "Revoke a subscription",
    description:
      "Revokes a sku from an account immediately, without a refund. A recurring one is a 409: cancel it instead, which also stops the payments.",
    access: { credentials: ACCOUNT },
    request: { query: RevokeQuery },
    responses: { 200: json("The entitlement is revoked", Success) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await revokeEntitlement(c.get("ctx"), c.req.valid("query"));
    return c.json({ success: true as const }, 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "getSubscriptionBySku",
    tag,
    method: "get",
    path: "/subscription/v2/sku/{sku}",
    summary: "Get a subscription by sku",
    description: "The subscription with this sku. " + managing,
    ...reading,
    request: { params: SkuParam },
    responses: { 200: json("The subscription", Subscription) },
    errors: ["not_found"],
  }),
  async (c) => {
    return c.json(await showSubscription(c, await getSubscriptionBySku(c.get("ctx"), c.req.valid("param").sku)), 200);
  },
);

const entitlements = {
  query: listQuery(["created"], EntitlementFilters).omit({ search: true }),
  answer: listOf(AccountEntitlement).openapi("AccountEntitlementList"),
};

subscriptions.openapi(
  operation({
    operationId: "listOwnEntitlements",
    tag,
    method: "get",
    path: "/subscription/v2/account",
    summary: "List the caller's entitlements",
    description: "The signed-in account's current and past entitlements, newest first, each with its subscription.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { query: entitlements.query },
    responses: { 200: json("A page of entitlements", entitlements.answer) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listOwnEntitlements(c.get("ctx"), query), toAccountEntitlement), 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "listEntitlements",
    tag,
    method: "get",
    path: "/subscription/v2/account/{accountId}",
    summary: "List an account's entitlements",
    description:
      "An account's current and past entitlements. Keys and admins can read those of any account of the site, others only their own.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: AccountParam, query: entitlements.query },
    responses: { 200: json("A page of entitlements", entitlements.answer) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listEntitlements(c.get("ctx"), c.req.valid("param").accountId, query);
    return c.json(listResponse(c.req.url, query, page, toAccountEntitlement), 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "getSubscription",
    tag,
    method: "get",
    path: "/subscription/v2/{id}",
    summary: "Get a subscription",
    description: "One subscription with its prices. " + managing,
    ...reading,
    request: { params: IdParam },
    responses: { 200: json("The subscription", Subscription) },
    errors: ["not_found"],
  }),
  async (c) => {
    return c.json(await showSubscription(c, await getSubscription(c.get("ctx"), c.req.valid("param").id)), 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "updateSubscription",
    tag,
    method: "post",
    path: "/subscription/v2/{id}",
    summary: "Change a subscription",
    description: "Changes the given fields; `prices` is replaced as a whole. Existing purchases don't change.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(SubscriptionPatch) },
    responses: { 200: json("The subscription as it is now", Subscription) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const subscription = await updateSubscription(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, subscription);
    return c.json(toSubscription(subscription), 200);
  },
);

subscriptions.openapi(
  operation({
    operationId: "deleteSubscription",
    tag,
    method: "delete",
    path: "/subscription/v2/{id}",
    summary: "Delete a subscription",
    description:
      "Deletes the subscription. A 409 while accounts hold its sku, with their number in the message, or while a payment page for it is open.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The subscription is deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteSubscription(c.get("ctx"), c.req.valid("param").id)), 200),
);
