import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, ANYONE } from "#worker/http/credentials.ts";
import { listResponse } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { getMember, grantToMember, listMembers } from "#worker/services/community/community.ts";
import { createExport, getExport, createDownloadToken, openExport } from "#worker/services/community/exports.ts";
import { updateMemberEntitlement } from "#worker/services/community/member-entitlements.ts";
import {
  Export,
  ExportParam,
  ExportState,
  FileParam,
  GrantQuery,
  MemberDetails,
  MemberList,
  MemberQuery,
  MembersQuery,
  Outcome,
  toExport,
  toExportState,
  toMember,
  toMemberDetails,
  UpdateQuery,
} from "#worker/services/community/schemas.ts";

export const community = createArea();
const tag = "Community";

const EXPORT_SAMPLE = [
  "account_id,name,email,created,last_login,marketing_optin,tags,subscriptions",
  '5eed0000000000000000a003,Vera Viewer,viewer@demo.example,2026-11-01T09:30:00.000Z,,true,"[""team:home""]","[""season-pass""]"',
  "",
].join("\r\n");

community.openapi(
  operation({
    operationId: "listMembers",
    tag,
    method: "get",
    path: "/community/v1",
    summary: "List members",
    description:
      "Lists the site's members. A channel admin sees those who hold a sku of one of their channels' gates; note that anyone who can edit a channel can put any of the site's skus in its gate. `searchBy` selects what `searchQuery` is compared with: names ignore case and accents, skus ignore the case of A to Z.",
    access: { credentials: ACCOUNT, accounts: "creator" },
    request: { query: MembersQuery },
    responses: { 200: json("A page of members", MemberList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listMembers(c.get("ctx"), query);
    return c.json(listResponse(c.req.url, { ...query, search: query.searchQuery }, page, toMember), 200);
  },
);

community.openapi(
  operation({
    operationId: "getMember",
    tag,
    method: "get",
    path: "/community/v1/account",
    summary: "Get a member",
    description: "Returns one member with current and former entitlements (at most 200) and the possible actions for each.",
    access: { credentials: ACCOUNT },
    request: { query: MemberQuery },
    responses: { 200: json("The member", MemberDetails) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toMemberDetails(await getMember(c.get("ctx"), c.req.valid("query").accountId)), 200),
);

community.openapi(
  operation({
    operationId: "exportMembers",
    tag,
    method: "get",
    path: "/community/v1/export",
    summary: "Export the members",
    description:
      "Starts an export of all members as CSV. It runs in the background: poll its state until it is `complete`. The file is deleted a day after the request.",
    access: { credentials: ACCOUNT },
    limit: { name: "exportMembers" },
    request: {},
    responses: { 200: json("The export has started", Export) },
  }),
  async (c) => c.json(toExport(await createExport(c.get("ctx"))), 200),
);

community.openapi(
  operation({
    operationId: "getExport",
    tag,
    method: "get",
    path: "/community/v1/export/{exportId}",
    summary: "Get an export",
    description: "Returns the progress of an export and, once it is complete, a download URL that is valid for one hour.",
    access: { credentials: ACCOUNT },
    request: { params: ExportParam },
    responses: { 200: json("The state of the export", ExportState) },
    errors: ["not_found"],
  }),
  async (c) => {
    const row = await getExport(c.get("ctx"), c.req.valid("param").exportId);
    return c.json(toExportState(row, await createDownloadToken(c.get("ctx"), row), new URL(c.req.url).origin), 200);
  },
);

community.openapi(
  operation({
    operationId: "downloadExport",
    tag,
    method: "get",
    path: "/community/v1/export/file/{token}",
    summary: "Download an export",
    description:
      "Returns the file: CSV per RFC 4180, in UTF-8 without a byte order mark, with CRLF line endings; a header, then one line per member, oldest first. Times are ISO 8601 in UTC, `last_login` is empty if the member has never signed in, `marketing_optin` is `true` or `false`, `tags` and `subscriptions` (current skus) are JSON arrays. Values that a spreadsheet would treat as a formula are prefixed with an apostrophe. An expired link returns 404, and so does one of an admin who has lost the role.",
    access: { credentials: ANYONE },
    request: { params: FileParam },
    responses: { 200: { description: "The file", content: { "text/csv": { schema: { type: "string", example: EXPORT_SAMPLE } } } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { row, text } = await openExport(c.get("ctx"), c.req.valid("param").token);
    return c.body(streamText(text), 200, {
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": `attachment; filename="${row.fileName}"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);

community.openapi(
  operation({
    operationId: "grantEntitlement",
    tag,
    method: "post",
    path: "/community/v1/grant-entitlement",
    summary: "Grant an entitlement",
    description: "Grants a member a subscription's entitlement without payment. If the member already holds it, nothing changes.",
    access: { credentials: ACCOUNT },
    request: { query: GrantQuery },
    responses: { 200: json("The entitlement is granted", Outcome) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await grantToMember(c.get("ctx"), c.req.valid("query")), 200),
);

// The same operation for both methods.
for (const [operationId, method] of [
  ["updateEntitlement", "post"],
  ["patchEntitlement", "patch"],
] as const) {
  community.openapi(
    operation({
      operationId,
      tag,
      method,
      path: "/community/v1/update-entitlement",
      summary: "Cancel, remove or refund an entitlement",
      description:
        "Performs an action on a member's entitlement. If the action isn't possible, the response has `success: false` and the reason. A failed call can be repeated without refunding twice, except `justRefund` with a `refundAmount`: that is a new refund unless it is repeated with the same `Idempotency-Key`.",
      access: { credentials: ACCOUNT },
      request: { query: UpdateQuery },
      responses: { 200: json("The outcome", Outcome) },
      errors: ["not_found", "conflict", "billing_not_configured"],
    }),
    async (c) => c.json(await updateMemberEntitlement(c.get("ctx"), c.req.valid("query")), 200),
  );
}
