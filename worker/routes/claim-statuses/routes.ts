import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { getClaim, listClaims, updateClaim } from "#worker/services/claim-statuses/claims.ts";
import { ClaimMove, ClaimQuery, ClaimStatus, toClaimStatus } from "#worker/services/claim-statuses/schemas.ts";

export const claimStatuses = createArea();

const common = { tag: "Claims", access: { credentials: DEVELOPER_OR_ACCOUNT, errors: { globalAccount: "no_account" } } } as const;

claimStatuses.openapi(
  operation({
    ...common,
    operationId: "listClaimStatuses",
    method: "get",
    path: "/claimstatus/v3",
    summary: "List claims",
    description:
      "Lists claims of quest rewards, most recently changed first: all of the site's for admins and keys, only the caller's own for everyone else.",
    access: { ...common.access, accounts: "any" },
    request: { query: ClaimQuery },
    responses: { 200: json("A page of claims", listOf(ClaimStatus).openapi("ClaimStatusList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listClaims(c.get("ctx"), query), toClaimStatus), 200);
  },
);

claimStatuses.openapi(
  operation({
    ...common,
    operationId: "getClaimStatus",
    method: "get",
    path: "/claimstatus/v3/{id}",
    summary: "Get a claim",
    description: "Returns one claim. Only admins and keys can read those of others.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The claim", ClaimStatus) },
    errors: ["not_found"],
  }),
  async (c) => {
    const claim = await getClaim(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, claim);
    return c.json(toClaimStatus(claim), 200);
  },
);

claimStatuses.openapi(
  operation({
    ...common,
    operationId: "updateClaimStatus",
    method: "patch",
    path: "/claimstatus/v3/{id}",
    summary: "Update a claim's status",
    description:
      "Changes a claim's status: `PENDING` can change to any other status, `ERROR` and `ERROR_REGION` to each other and to `SUCCESS`, which is final. With `SUCCESS`, a prize that is a sku of the site is granted, and the quest's `rewardAmount` is paid into the claimant's wallet. With `ERROR` or `ERROR_REGION`, the claim's cost is refunded; a later `SUCCESS` debits it again. A raffle entry can be ended, but only the draw can make it win.",
    request: { params: IdParam, body: jsonBody(ClaimMove) },
    responses: { 200: json("The updated claim", ClaimStatus) },
    errors: ["not_found", "conflict", "insufficient_balance", "precondition_failed"],
  }),
  async (c) => {
    const claim = await updateClaim(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, claim);
    return c.json(toClaimStatus(claim), 200);
  },
);
