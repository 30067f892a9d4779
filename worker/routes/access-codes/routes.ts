import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, DEVELOPER } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { callerAddress } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  accessCodeChunks,
  addAccessCode,
  consumeAccessCode,
  createAccessCodes,
  deleteAccessCode,
  getAccessCode,
  listAccessCodes,
} from "#worker/services/access-codes/access-codes.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { csvText, jsonText } from "#worker/services/access-codes/bulk-response.ts";
import {
  AccessCode,
  AccessCodeFilters,
  AddAccessCodeQuery,
  BulkResult,
  BulkInput,
  BulkQuery,
  ConsumeParam,
  Redeemed,
  toAccessCode,
} from "#worker/services/access-codes/schemas.ts";
import { addTvOperations } from "./tv.ts";

export const accessCodes = createArea();
const tag = "Access codes";

accessCodes.openapi(
  operation({
    operationId: "listAccessCodes",
    tag,
    method: "get",
    path: "/accesscode/v1",
    summary: "List access codes",
    description: "Lists the site's codes, newest first. `search` matches the code itself.",
    access: { credentials: DEVELOPER },
    request: { query: listQuery(["created", "modified", "sku"], AccessCodeFilters) },
    responses: { 200: json("A page of codes", listOf(AccessCode).openapi("AccessCodeList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listAccessCodes(c.get("ctx"), query), toAccessCode), 200);
  },
);

accessCodes.openapi(
  operation({
    operationId: "addAccessCode",
    tag,
    method: "post",
    path: "/accesscode/v1",
    summary: "Add an access code",
    description:
      "Adds a code that you choose. The first account to redeem it gets what it grants, so don't choose one that is easy to guess. To create many random codes, use the bulk operation.",
    access: { credentials: DEVELOPER },
    request: { query: AddAccessCodeQuery },
    responses: { 200: json("The code", AccessCode) },
    errors: ["conflict"],
  }),
  async (c) => {
    const code = await addAccessCode(c.get("ctx"), c.req.valid("query"));
    tagVersion(c, code);
    return c.json(toAccessCode(code), 200);
  },
);

accessCodes.openapi(
  operation({
    operationId: "createAccessCodes",
    tag,
    method: "post",
    path: "/accesscode/v1/bulk",
    summary: "Create many access codes",
    description:
      "Creates up to 100,000 codes that grant a sku, all or none. Each has 12 unambiguous letters and digits (58 random bits). The response is streamed, as JSON or CSV.",
    access: { credentials: DEVELOPER },
    retries: { replay: "receipt" },
    request: { query: BulkQuery, body: jsonBody(BulkInput) },
    responses: {
      200: {
        description: "The codes",
        content: {
          "application/json": { schema: BulkResult },
          "text/csv": { schema: { type: "string", example: "accessCode,sku\r\nK7PQ2MXB9RTA,season-pass\r\n" } },
        },
      },
    },
    errors: ["conflict"],
  }),
  async (c) => {
    const input = c.req.valid("json");
    const chunks = accessCodeChunks(await createAccessCodes(c.get("ctx"), input), input.qty);
    if (c.req.valid("query").kind === "csv") {
      return c.body(streamText(csvText(input, chunks)), 200, {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="access-codes.csv"',
      });
    }
    return c.body(streamText(jsonText(input, chunks)), 200, { "Content-Type": "application/json" });
  },
);

accessCodes.openapi(
  operation({
    operationId: "consumeAccessCode",
    tag,
    method: "get",
    path: "/accesscode/v1/consume/{accessCode}",
    summary: "Redeem an access code",
    description:
      "Redeems a code for the signed-in account, once: a subscription code grants its sku, a login code lets the account through the login gates that name its sku. For an unknown or used code, the response has `success: false` and the reason.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: ConsumeParam },
    responses: { 200: json("The outcome", Redeemed) },
  }),
  async (c) => c.json(await consumeAccessCode(c.get("ctx"), c.req.valid("param").accessCode, callerAddress(c)), 200),
);

addTvOperations(accessCodes, tag);

accessCodes.openapi(
  operation({
    operationId: "getAccessCode",
    tag,
    method: "get",
    path: "/accesscode/v1/{id}",
    summary: "Get an access code",
    description: "Returns one of the site's codes by its id.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("The code", AccessCode) },
    errors: ["not_found"],
  }),
  async (c) => {
    const code = await getAccessCode(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, code);
    return c.json(toAccessCode(code), 200);
  },
);

accessCodes.openapi(
  operation({
    operationId: "deleteAccessCode",
    tag,
    method: "delete",
    path: "/accesscode/v1/{id}",
    summary: "Delete an access code",
    description: "Deletes a code. Granted entitlements stay; the account of a login code can no longer pass the login gates.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("The code is deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteAccessCode(c.get("ctx"), c.req.valid("param").id)), 200),
);
