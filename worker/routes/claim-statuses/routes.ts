import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { getClaim, listClaims, moveClaim } from "#worker/services/claim-statuses/claims.ts";
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
      "Claims of quests' rewards, the last changed first: all of the site for its admins and keys, the caller's own for anybody else.",
    access: { ...common.access, accounts: "any" },
    request: { query: ClaimQuery },
    responses: { 200: json("A page of claims", listOf(ClaimStatus).openapi("ClaimStatusList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listClaims(c.var.ctx, query), toClaimStatus), 200);
  },
);

claimStatuses.openapi(
  operation({
    ...common,
    operationId: "getClaimStatus",
    method: "get",
    path: "/claimstatus/v3/{id}",
    summary: "Get a claim",
    description: "One claim; of somebody else's only admins and keys hear.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The claim", ClaimStatus) },
    errors: ["not_found"],
  }),
  async (c) => {
    const claim = await getClaim(c.var.ctx, c.req.valid("param").id);
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
    summary: "Move a claim on",
    description:
      "Says what has become of a claim: `PENDING` may go to any other status, `ERROR` and `ERROR_REGION` to each other and to `SUCCESS`, which is final. With `SUCCESS` a prize that is a sku of the site is granted. An entry of a raffle may be ended, but only the draw makes it win.",
    request: { params: IdParam, body: jsonBody(ClaimMove) },
    responses: { 200: json("The claim as it is now", ClaimStatus) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const claim = await moveClaim(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, claim);
    return c.json(toClaimStatus(claim), 200);
  },
);
