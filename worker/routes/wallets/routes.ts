import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, SUPER } from "#worker/http/credentials.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { cancelOfWallet, getOwnWallet, getRecurringOf, insertWallet, listRecurring } from "#worker/services/wallets/wallets.ts";
import {
  CancelledRecurring,
  CancelRecurring,
  RecurringList,
  RecurringParams,
  RecurringSubscription,
  toRecurring,
  toWallet,
  Wallet,
  WalletFailure,
  WalletInput,
  WalletParam,
} from "#worker/services/wallets/schemas.ts";

export const wallets = createArea();
const tag = "Wallets";

wallets.openapi(
  operation({
    operationId: "getWallet",
    tag,
    method: "get",
    path: "/wallet/v1",
    summary: "Get the caller's wallet",
    description: "The caller's wallet, created on first access.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: {},
    responses: { 200: json("The wallet", Wallet) },
  }),
  async (c) => {
    const wallet = await getOwnWallet(c.var.ctx);
    tagVersion(c, wallet);
    return c.json(toWallet(wallet), 200);
  },
);

wallets.openapi(
  operation({
    operationId: "insertWallet",
    tag,
    method: "post",
    path: "/wallet/v1",
    summary: "Insert a wallet",
    description:
      "Creates a wallet for an account or a site, optionally with a balance and an existing Stripe customer. If the owner already has one or doesn't belong to the site: 200 with `success: false`.",
    access: { credentials: SUPER },
    request: { body: jsonBody(WalletInput) },
    responses: { 200: json("Why no wallet was created", WalletFailure), 201: json("The wallet", Wallet) },
  }),
  async (c) => {
    const created = await insertWallet(c.var.ctx, c.req.valid("json"));
    return "success" in created ? c.json(created, 200) : c.json(toWallet(created), 201);
  },
);

wallets.openapi(
  operation({
    operationId: "listRecurringSubscriptions",
    tag,
    method: "get",
    path: "/wallet/v1/recurring/{walletId}",
    summary: "List recurring subscriptions",
    description:
      "The current and past recurring subscriptions of the wallet's owner, newest first. For the owner and site admins; 401 for others.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: WalletParam },
    responses: { 200: json("The recurring subscriptions", RecurringList) },
    errors: ["not_found"],
  }),
  async (c) => c.json((await listRecurring(c.var.ctx, c.req.valid("param").walletId)).map(toRecurring), 200),
);

wallets.openapi(
  operation({
    operationId: "getRecurringSubscription",
    tag,
    method: "get",
    path: "/wallet/v1/recurring/{walletId}/{subscriptionId}",
    summary: "Get a recurring subscription",
    description:
      "One recurring subscription of the wallet's owner. For the owner and site admins; 401 for others. An unknown one is a 404 with the same `message` as its cancellation.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: RecurringParams },
    responses: { 200: json("The recurring subscription", RecurringSubscription) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { walletId, subscriptionId } = c.req.valid("param");
    return c.json(toRecurring(await getRecurringOf(c.var.ctx, walletId, subscriptionId)), 200);
  },
);

wallets.openapi(
  operation({
    operationId: "cancelRecurringSubscription",
    tag,
    method: "put",
    path: "/wallet/v1/recurring/{walletId}/{subscriptionId}",
    summary: "Cancel a recurring subscription",
    description:
      "Cancels the payments and the entitlement, immediately or at the end of the paid period; safe to retry. A subscription that doesn't exist, here or at Stripe, is a 200 with `success: false` and a message.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: RecurringParams, body: jsonBody(CancelRecurring) },
    responses: { 200: json("Whether it is cancelled", CancelledRecurring) },
    errors: ["forbidden", "not_found", "conflict", "unavailable", "billing_not_configured"],
  }),
  async (c) => {
    const { walletId, subscriptionId } = c.req.valid("param");
    return c.json(await cancelOfWallet(c.var.ctx, walletId, subscriptionId, c.req.valid("json")), 200);
  },
);
