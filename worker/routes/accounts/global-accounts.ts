import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, GLOBAL, GLOBAL_OR_SUPER } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { Deleted, deleted, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { askGlobalAccount, confirmGlobalAccount, deleteGlobalAccount, listGlobalSites } from "#worker/services/accounts/global-accounts.ts";
import {
  AskGlobalAccount,
  ConfirmGlobalAccount,
  GlobalAccount,
  GlobalSite,
  Success,
  toGlobalAccount,
} from "#worker/services/accounts/schemas.ts";

export const globalAccounts = createArea();
const tag = "Accounts";

globalAccounts.openapi(
  operation({
    operationId: "requestGlobalAccount",
    tag,
    method: "post",
    path: "/account/v3/global",
    summary: "Request a global account",
    description:
      "For a site admin (also one who only reads) with a verified address: mails a link to create a global account, which is one sign-in for all the sites that a person administers, or to link this site's account to the one that they have. The link is valid for an hour and once.",
    access: { credentials: ACCOUNT, action: "read" },
    request: { body: jsonBody(AskGlobalAccount) },
    responses: { 200: json("Requested", Success) },
    errors: ["not_found", "conflict", "email_not_verified"],
  }),
  async (c) => {
    await askGlobalAccount(c.var.ctx, c.req.valid("json"), callerAddress(c));
    return c.json({ success: true } as const, 200);
  },
);

globalAccounts.openapi(
  operation({
    operationId: "confirmGlobalAccount",
    tag,
    method: "post",
    path: "/account/v3/global/confirm",
    summary: "Create or link a global account",
    description:
      "Takes the mail's token. Creates the global account with a password of its own, or links the site's account to the one that the person has, whose password is needed then. No other operation creates or links a global account.",
    access: { credentials: CLIENT },
    request: { body: jsonBody(ConfirmGlobalAccount) },
    responses: { 200: json("The global account", GlobalAccount) },
    errors: ["conflict"],
  }),
  async (c) => c.json(toGlobalAccount(await confirmGlobalAccount(c.var.ctx, c.req.valid("json"), callerAddress(c))), 200),
);

globalAccounts.openapi(
  operation({
    operationId: "deleteGlobalAccount",
    tag,
    method: "delete",
    path: "/account/v3/global",
    summary: "Delete a global account",
    description: "Ends every global sign-in of the caller, and the links of its sites' accounts, which stay.",
    access: { credentials: GLOBAL, accounts: "global" },
    request: {},
    responses: { 200: json("It is gone", Deleted) },
  }),
  async (c) => c.json(deleted(await deleteGlobalAccount(c.var.ctx)), 200),
);

globalAccounts.openapi(
  operation({
    operationId: "listGlobalSites",
    tag,
    method: "get",
    path: "/account/v3/global/accounts",
    summary: "List a global account's sites",
    description:
      "The sites that the caller administers, each with the account there; the operator reads those of every global account. `search` looks in the slug.",
    access: { credentials: GLOBAL_OR_SUPER, accounts: "global" },
    request: { query: listQuery(["slug"], {}) },
    responses: { 200: json("A page of sites", listOf(GlobalSite).openapi("GlobalSiteList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(
      listAnswer(c.req.url, query, await listGlobalSites(c.var.ctx, query), (row) => row),
      200,
    );
  },
);
