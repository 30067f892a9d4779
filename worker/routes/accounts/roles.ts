import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { getAccount } from "#worker/services/accounts/accounts.ts";
import { queryRoles, setRoles } from "#worker/services/accounts/roles.ts";
import { AccountList, AccountRoles, RoleFilter, RolesInput, toAccount, toRoles } from "#worker/services/accounts/schemas.ts";

export const accountRoles = createArea();
const tag = "Accounts";

accountRoles.openapi(
  operation({
    operationId: "queryRoles",
    tag,
    method: "get",
    path: "/account/v3/roles/query",
    summary: "Find accounts by role or property",
    description:
      "Lists the accounts that match every given filter: `email`, `name` and `tags` of the account; `scope`, `pageId` and `write` of one of its roles. `admin=true` returns only admins of the site or of channels.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: listQuery(["created", "name", "email"], RoleFilter) },
    responses: { 200: json("A page of accounts", AccountList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await queryRoles(c.get("ctx"), query), toAccount), 200);
  },
);

accountRoles.openapi(
  operation({
    operationId: "getRoles",
    tag,
    method: "get",
    path: "/account/v3/roles/{id}",
    summary: "Get an account's roles",
    description: "Keys and admins can read the roles of any account of the site, everyone else only their own.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The roles", AccountRoles) },
    errors: ["not_found"],
  }),
  async (c) => {
    const account = await getAccount(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, account);
    return c.json(toRoles(account), 200);
  },
);

accountRoles.openapi(
  operation({
    operationId: "setRoles",
    tag,
    method: "put",
    path: "/account/v3/roles/{id}",
    summary: "Replace an account's roles",
    description:
      "Takes effect immediately, also for open sessions. A key also needs `roles:write`. The last admin of a site can't be demoted (409); a new admin requires the site's settings.security.allowNewAdmins (403). If the account signed up by itself and its address isn't verified, a new role voids its password, sessions and third-party sign-ins, and an email lets the owner of the address choose a new password.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(RolesInput) },
    responses: { 200: json("The updated roles", AccountRoles) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const account = await setRoles(c.get("ctx"), c.req.valid("param").id, c.req.valid("json").roles);
    tagVersion(c, account);
    return c.json(toRoles(account), 200);
  },
);
