import { createArea } from "../../http/area.ts";
import { GLOBAL_OR_SUPER } from "../../http/credentials.ts";
import { listAnswer, listOf, listQuery } from "../../http/listing.ts";
import { operation } from "../../http/operation.ts";
import { json } from "../../http/schemas.ts";
import { listGlobalSites } from "../../services/global-accounts.ts";
import { GlobalSite } from "./schemas.ts";

export const globalAccounts = createArea();

globalAccounts.openapi(
  operation({
    operationId: "listGlobalSites",
    tag: "Accounts",
    method: "get",
    path: "/account/v3/global/accounts",
    summary: "List a global account's sites",
    description:
      "The sites that the caller administers, each with the account there; the operator reads those of every global account. `search` looks in the slug.",
    credentials: GLOBAL_OR_SUPER,
    accounts: "global",
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
