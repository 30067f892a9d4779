import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listQuery } from "#worker/services/core/list-schemas.ts";
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
import { globalAccounts } from "./global-accounts.ts";
import { passwords } from "./passwords.ts";
import { accountRoles } from "./roles.ts";
import { Account, AccountList, CreateAccount, toAccount, UpdateAccount, UpsertAccount } from "#worker/services/accounts/schemas.ts";
import { tagAccount } from "./tag-account.ts";
import { accountTags } from "./tags.ts";
import { verification } from "./verification.ts";

export const accounts = createArea();
const tag = "Accounts";

// Ahead of `{id}`, which would match their paths too.
for (const part of [globalAccounts, passwords, verification, accountRoles, accountTags]) accounts.route("/", part);

accounts.openapi(
  operation({
    operationId: "listAccounts",
    tag,
    method: "get",
    path: "/account/v3",
    summary: "List accounts",
    description: "The people of the site, the newest first. `search` looks in name and e-mail.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {
      query: listQuery(["created", "name", "email"], { email: z.string().optional().describe("The account with just this address") }),
    },
    responses: { 200: json("A page of accounts", AccountList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listAccounts(c.var.ctx, query), toAccount), 200);
  },
);

accounts.openapi(
  operation({
    operationId: "createAccount",
    tag,
    method: "post",
    path: "/account/v3",
    summary: "Create an account",
    description:
      "A viewer signs up, and receives a mail to verify the address. The e-mail is unique on the site, in whatever case it is written.",
    access: { credentials: CLIENT },
    limit: { name: "createAccount" },
    request: { body: jsonBody(CreateAccount) },
    responses: { 201: json("The account", Account) },
    errors: ["conflict"],
  }),
  async (c) => c.json(toAccount(await createAccount(c.var.ctx, c.req.valid("json"))), 201),
);

accounts.openapi(
  operation({
    operationId: "upsertAccount",
    tag,
    method: "put",
    path: "/account/v3",
    summary: "Create or change by e-mail",
    description:
      "Creates the account of this e-mail, or changes what is given of it. The rules for roles are those of `PUT /account/v3/roles/{id}`; a `password` of the same request stays valid, and then no mail is sent. A sign-in at another provider belongs to one account of the site. A key needs `roles:write` too where roles change, and for the password or providers of an account that has some.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(UpsertAccount) },
    responses: { 200: json("The account as it is now", Account) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const account = await upsertAccount(c.var.ctx, c.req.valid("json"));
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
    description: "A key or an admin reads any account of the site, everyone else their own.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The account", Account) },
    errors: ["not_found"],
  }),
  async (c) => {
    const account = await getAccount(c.var.ctx, c.req.valid("param").id);
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
    summary: "Change an account",
    description:
      "A key or an admin changes any account of the site, everyone else their own name and consent. A new e-mail address is unverified; links that were mailed to the old one are void, and a link to a global account ends. A key needs `roles:write` too for the e-mail or providers of an account with roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam, body: jsonBody(UpdateAccount) },
    responses: { 200: json("The account as it is now", Account) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const account = await updateAccount(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
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
      "Erases the person: account, profile, sessions and links; what books need stays under the id alone, and a file of the members that was made before names them until it is deleted, a day after it was asked for. A key or an admin deletes any account of the site, everyone else their own; the last admin of a site can't be deleted. A key needs `roles:write` too where the account has roles.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteAccount(c.var.ctx, c.req.valid("param").id)), 200),
);
