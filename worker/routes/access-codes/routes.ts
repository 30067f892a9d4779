import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT, DEVELOPER } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
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
import { csvText, jsonText } from "#worker/services/access-codes/bulk-answer.ts";
import {
  AccessCode,
  AccessCodeFilters,
  AddAccessCodeQuery,
  BulkAnswer,
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
    description: "The site's codes, the newest first. `search` looks in the code itself.",
    access: { credentials: DEVELOPER },
    request: { query: listQuery(["created", "modified", "sku"], AccessCodeFilters) },
    responses: { 200: json("A page of codes", listOf(AccessCode).openapi("AccessCodeList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listAccessCodes(c.var.ctx, query), toAccessCode), 200);
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
      "Adds a code that the site has thought of itself; whoever redeems it first gets what it grants. A code that others can guess is no secret: for many, use the bulk operation.",
    access: { credentials: DEVELOPER },
    request: { query: AddAccessCodeQuery },
    responses: { 200: json("The code", AccessCode) },
    errors: ["conflict"],
  }),
  async (c) => {
    const code = await addAccessCode(c.var.ctx, c.req.valid("query"));
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
      "Makes up to 100,000 codes that grant a sku, all or none: 12 letters and digits that can't be mistaken for one another, of 58 random bits. The answer is streamed, as JSON or as CSV.",
    access: { credentials: DEVELOPER },
    retries: { replay: "receipt" },
    request: { query: BulkQuery, body: jsonBody(BulkInput) },
    responses: {
      200: {
        description: "The codes",
        content: {
          "application/json": { schema: BulkAnswer },
          "text/csv": { schema: { type: "string", example: "accessCode,sku\r\nK7PQ2MXB9RTA,season-pass\r\n" } },
        },
      },
    },
    errors: ["conflict"],
  }),
  async (c) => {
    const input = c.req.valid("json");
    const chunks = accessCodeChunks(await createAccessCodes(c.var.ctx, input), input.qty);
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
      "Redeems a code for the signed-in account, once: a subscription code grants its sku, a login code lets the account through the login gates that name its sku. A code that is unknown or spent answers `success: false` and says why.",
    access: { credentials: ACCOUNT, accounts: "any" },
    request: { params: ConsumeParam },
    responses: { 200: json("What became of it", Redeemed) },
  }),
  async (c) => c.json(await consumeAccessCode(c.var.ctx, c.req.valid("param").accessCode, callerAddress(c)), 200),
);

addTvOperations(accessCodes, tag);

accessCodes.openapi(
  operation({
    operationId: "getAccessCode",
    tag,
    method: "get",
    path: "/accesscode/v1/{id}",
    summary: "Get an access code",
    description: "One code of the site, by its id.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("The code", AccessCode) },
    errors: ["not_found"],
  }),
  async (c) => {
    const code = await getAccessCode(c.var.ctx, c.req.valid("param").id);
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
    description: "Removes a code. What it has granted stays; the account of a login code is let through its gates no more.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteAccessCode(c.var.ctx, c.req.valid("param").id)), 200),
);
