import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  createAccount,
  deleteAccount,
  getAccount,
  listAccounts,
  updateAccount,
  upsertAccount,
} from "#worker/services/accounts/accounts.ts";
import { accountExport } from "./export.ts";
import { globalAccounts } from "./global-accounts.ts";
import { accountImport } from "./import.ts";
import { passwords } from "./passwords.ts";
import { accountRoles } from "./roles.ts";
import { Account, AccountList, CreateAccount, toAccount, UpdateAccount, UpsertAccount } from "#worker/services/accounts/schemas.ts";
import { tagAccount } from "./tag-account.ts";
import { accountTags } from "./tags.ts";
import { verification } from "./verification.ts";

export const accounts = createArea();
const tag = "Accounts";

// Before `{id}`, which would match their paths too.
for (const part of [globalAccounts, passwords, verification, accountRoles, accountTags, accountExport, accountImport])
  accounts.route("/", part);

accounts.openapi(
  operation({
    operationId: "listAccounts",
    tag,
    method: "get",
    path: "/account/v3",
    summary: "List accounts",
    description: "Lists the site's accounts, newest first. `search` matches name and email address.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {
      query: listQuery(["created", "name", "email"], {
        email: z.string().optional().describe("Only the account with exactly this address"),
      }),
    },
    responses: { 200: json("A page of accounts", AccountList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listAccounts(c.get("ctx"), query), toAccount), 200);
  },
);

accounts.openapi(
  operation({
    operationId: "createAccount",
    tag,
    method: "post",
    path: "/account/v3",
    summary: "Create an account",
    description: "Signs a viewer up and mails a link to verify the address. The address is unique on the site, case-insensitively.",
    access: { credentials: CLIENT },
    limit: { name: "createAccount" },
    request: { body: jsonBody(CreateAccount) },
    responses: { 201: json("The account", Account) },
    errors: ["conflict"],
  }),
  async (c) => c.json(toAccount(await createAccount(c.get("ctx"), c.req.valid("json"))), 201),
);

accounts.openapi(
  operation({
    operationId: "upsertAccount",
    tag,
    method: "put",
    path: "/account/v3",
    summary: "Create or update an account by email address",
    description:
      "Creates the account with this email address, or updates the given fields. The rules for roles are those of `PUT /account/v3/roles/{id}`; a `password` in the same request stays valid, and no email is sent. A third-party sign-in belongs to one account of the site. A key also needs `roles:write` to change roles, or the password or providers of an account with roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(UpsertAccount) },
    responses: { 200: json("The updated account", Account) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const account = await upsertAccount(c.get("ctx"), c.req.valid("json"));
    await tagAccount(c, account);
    return c.json(toAccount(account), 200);
  },
);

accounts.openapi(
  operation({
    operationId: "getAccount",
    tag,
    method: "get",
    path: "/account/v3/{id}",
    summary: "Get an account",
    description: "Keys and admins can read any account of the site, everyone else only their own.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The account", Account) },
    errors: ["not_found"],
  }),
  async (c) => {
    const account = await getAccount(c.get("ctx"), c.req.valid("param").id);
    await tagAccount(c, account);
    return c.json(toAccount(account), 200);
  },
);

accounts.openapi(
  operation({
    operationId: "updateAccount",
    tag,
    method: "put",
    path: "/account/v3/{id}",
    summary: "Update an account",
    description:
      "Keys and admins can update any account of the site, everyone else only their own name and marketing consent. A new email address is unverified: links mailed to the old one become void, and the account is unlinked from its global account. A key also needs `roles:write` for the email address or providers of an account with roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam, body: jsonBody(UpdateAccount) },
    responses: { 200: json("The updated account", Account) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const account = await updateAccount(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    await tagAccount(c, account);
    return c.json(toAccount(account), 200);
  },
);

accounts.openapi(
  operation({
    operationId: "deleteAccount",
    tag,
    method: "delete",
    path: "/account/v3/{id}",
    summary: "Delete an account",
    description:
      "Erases the person's data: account, profile, sessions and links. Accounting records stay, with only the account's id; an earlier export of members includes the person until it is deleted, a day after it was requested. Keys and admins can delete any account of the site, everyone else only their own; the last admin of a site can't be deleted. A key also needs `roles:write` if the account has roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The account is deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteAccount(c.get("ctx"), c.req.valid("param").id)), 200),
);
