import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, DEVELOPER, DEVELOPER_OR_ACCOUNT, SUPER } from "#worker/http/credentials.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { isManager } from "#worker/services/core/context.ts";
import { listOf, listResponse } from "#worker/services/core/list-schemas.ts";
import { createTransaction, listTransactions } from "#worker/services/wallets/transactions.ts";
import {
  cancelOfWallet,
  getOwnWallet,
  getRecurringOf,
  getWalletOfAccount,
  insertWallet,
  listRecurring,
} from "#worker/services/wallets/wallets.ts";
import {
  CancelledRecurring,
  CancelRecurring,
  RecurringList,
  RecurringParams,
  RecurringSubscription,
  toRecurring,
  toTransaction,
  toWallet,
  TransactionQuery,
  Wallet,
  WalletFailure,
  WalletInput,
  WalletParam,
  WalletTransaction,
  WalletTransactionInput,
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
    const wallet = await getOwnWallet(c.get("ctx"));
    tagVersion(c, wallet);
    return c.json(toWallet(wallet), 200);
  },
);

wallets.openapi(
  operation({
    operationId: "getWalletOfAccount",
    tag,
    method: "get",
    path: "/wallet/v1/account/{accountId}",
    summary: "Get an account's wallet",
    description: "The wallet of an account of the site, created on first access.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: z.object({ accountId: Id }) },
    responses: { 200: json("The wallet", Wallet) },
    errors: ["not_found"],
  }),
  async (c) => {
    const wallet = await getWalletOfAccount(c.get("ctx"), c.req.valid("param").accountId);
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
    const created = await insertWallet(c.get("ctx"), c.req.valid("json"));
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
  async (c) => c.json((await listRecurring(c.get("ctx"), c.req.valid("param").walletId)).map(toRecurring), 200),
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
    return c.json(toRecurring(await getRecurringOf(c.get("ctx"), walletId, subscriptionId)), 200);
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
    errors: ["forbidden", "not_found", "conflict", "billing_not_configured"],
  }),
  async (c) => {
    const { walletId, subscriptionId } = c.req.valid("param");
    return c.json(await cancelOfWallet(c.get("ctx"), walletId, subscriptionId, c.req.valid("json")), 200);
  },
);

wallets.openapi(
  operation({
    operationId: "listWalletTransactions",
    tag,
    method: "get",
    path: "/wallet/v1/{id}/transactions",
    summary: "List a wallet's transactions",
    description:
      "The transactions whose sum is the wallet's balance, newest first. For the wallet's owner, site admins and developer keys; 401 for other accounts.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam, query: TransactionQuery },
    responses: { 200: json("A page of transactions", listOf(WalletTransaction).openapi("WalletTransactionList")) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listTransactions(c.get("ctx"), c.req.valid("param").id, query);
    const manages = isManager(await c.get("ctx").caller());
    return c.json(
      listResponse(c.req.url, query, page, (row) => toTransaction(row, manages)),
      200,
    );
  },
);

wallets.openapi(
  operation({
    operationId: "createWalletTransaction",
    tag,
    method: "post",
    path: "/wallet/v1/{id}/transactions",
    summary: "Credit or debit a wallet",
    description:
      "Adds a transaction and changes the balance by its amount, in one commit. A debit of more than the balance is a 409 `insufficient_balance`. A `transactionId` is applied once per wallet: a repeated request returns the first one's transaction, and 409 if it differs from it.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam, body: jsonBody(WalletTransactionInput) },
    responses: { 201: json("The transaction", WalletTransaction) },
    errors: ["not_found", "conflict", "insufficient_balance"],
  }),
  async (c) => {
    const created = await createTransaction(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    return c.json(toTransaction(created, true), 201);
  },
);
