import { z } from "@hono/zod-openapi";
import { createArea } from "../../http/area.ts";
import { tagVersion } from "../../http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "../../http/credentials.ts";
import { listAnswer, listOf, listQuery } from "../../http/listing.ts";
import { operation } from "../../http/operation.ts";
import { IdParam, json, jsonBody } from "../../http/schemas.ts";
import { createAccount, getAccount, listAccounts } from "../../services/accounts.ts";
import { Account, CreateAccount, toAccount } from "./schemas.ts";

export const accounts = createArea();
const tag = "Accounts";

accounts.openapi(
  operation({
    operationId: "listAccounts",
    tag,
    method: "get",
    path: "/account/v3",
    summary: "List accounts",
    description: "The people of the site, the newest first. `search` looks in name and e-mail.",
    credentials: DEVELOPER_OR_ACCOUNT,
    request: {
      query: listQuery(["created", "name", "email"], { email: z.string().optional().describe("The account with just this address") }),
    },
    responses: { 200: json("A page of accounts", listOf(Account).openapi("AccountList")) },
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
    description: "A viewer signs up. The e-mail is unique on the site, in whatever case it is written.",
    credentials: CLIENT,
    limit: "createAccount",
    request: { body: jsonBody(CreateAccount) },
    responses: { 201: json("The account", Account) },
    errors: ["conflict"],
  }),
  async (c) => c.json(toAccount(await createAccount(c.var.ctx, c.req.valid("json"))), 201),
);

accounts.openapi(
  operation({
    operationId: "getAccount",
    tag,
    method: "get",
    path: "/account/v3/{id}",
    summary: "Get an account",
    description: "A key or an admin reads any account of the site, everyone else their own.",
    credentials: DEVELOPER_OR_ACCOUNT,
    accounts: "any",
    request: { params: IdParam },
    responses: { 200: json("The account", Account) },
    errors: ["not_found"],
  }),
  async (c) => {
    const account = await getAccount(c.var.ctx, c.req.valid("param").id);
    tagVersion(c, account);
    return c.json(toAccount(account), 200);
  },
);
