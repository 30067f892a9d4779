import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT, GLOBAL, GLOBAL_OR_SUPER } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { Deleted, deleted, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  requestGlobalAccount,
  confirmGlobalAccount,
  deleteGlobalAccount,
  listGlobalSites,
} from "#worker/services/accounts/global-accounts.ts";
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
      "Mails a link that creates a global account (one sign-in for all the sites that a person administers) or links this site's account to the caller's existing one. The caller must be an admin of the site, read-only or not, with a verified address. The link is valid for one hour and works once.",
    access: { credentials: ACCOUNT, action: "read" },
    request: { body: jsonBody(AskGlobalAccount) },
    responses: { 200: json("Requested", Success) },
    errors: ["not_found", "conflict", "email_not_verified"],
  }),
  async (c) => {
    await requestGlobalAccount(c.get("ctx"), c.req.valid("json"), callerAddress(c));
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
      "Creates the global account with its own password, or links the site's account to the person's existing global account, which requires its password. Takes the token from the email. No other operation creates or links a global account.",
    access: { credentials: CLIENT },
    request: { body: jsonBody(ConfirmGlobalAccount) },
    responses: { 200: json("The global account", GlobalAccount) },
    errors: ["conflict"],
  }),
  async (c) => c.json(toGlobalAccount(await confirmGlobalAccount(c.get("ctx"), c.req.valid("json"), callerAddress(c))), 200),
);

globalAccounts.openapi(
  operation({
    operationId: "deleteGlobalAccount",
    tag,
    method: "delete",
    path: "/account/v3/global",
    summary: "Delete a global account",
    description: "Ends every session of the caller's global account and unlinks its sites' accounts, which stay.",
    access: { credentials: GLOBAL, accounts: "global" },
    request: {},
    responses: { 200: json("The global account is deleted", Deleted) },
  }),
  async (c) => c.json(deleted(await deleteGlobalAccount(c.get("ctx"))), 200),
);

globalAccounts.openapi(
  operation({
    operationId: "listGlobalSites",
    tag,
    method: "get",
    path: "/account/v3/global/accounts",
    summary: "List a global account's sites",
    description:
      "Lists the sites that the caller administers, each with the caller's account on it; for the operator, those of every global account. `search` matches the slug.",
    access: { credentials: GLOBAL_OR_SUPER, accounts: "global" },
    request: { query: listQuery(["slug"], {}) },
    responses: { 200: json("A page of sites", listOf(GlobalSite).openapi("GlobalSiteList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(
      listResponse(c.req.url, query, await listGlobalSites(c.get("ctx"), query), (row) => row),
      200,
    );
  },
);
