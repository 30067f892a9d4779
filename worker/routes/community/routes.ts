import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, ANYONE } from "#worker/http/credentials.ts";
import { listAnswer } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { getMember, grantToMember, listMembers } from "#worker/services/community/community.ts";
import { createExport, getExport, linkExport, openExport } from "#worker/services/community/exports.ts";
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
      "The members of the site; a channel's admin sees those who hold a sku that the gate of one of their channels names, and whoever may change a channel says what its gate names: any of the site's skus. `searchBy` says what `searchQuery` is looked for in: names without regard to case and accents, skus to the case of A to Z.",
    access: { credentials: ACCOUNT, accounts: "creator" },
    request: { query: MembersQuery },
    responses: { 200: json("A page of members", MemberList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listMembers(c.var.ctx, query);
    return c.json(listAnswer(c.req.url, { ...query, search: query.searchQuery }, page, toMember), 200);
  },
);

community.openapi(
  operation({
    operationId: "getMember",
    tag,
    method: "get",
    path: "/community/v1/account",
    summary: "Get a member",
    description:
      "One member with what it holds and held, and what may be done about each: what is held first, then what was, at most 200 in all.",
    access: { credentials: ACCOUNT },
    request: { query: MemberQuery },
    responses: { 200: json("The member", MemberDetails) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toMemberDetails(await getMember(c.var.ctx, c.req.valid("query").accountId)), 200),
);

community.openapi(
  operation({
    operationId: "exportMembers",
    tag,
    method: "get",
    path: "/community/v1/export",
    summary: "Export the members",
    description:
      "Begins to write a CSV file of all members. It takes a while, however short: ask for its state until that is `complete`. The file is deleted a day after it was asked for.",
    access: { credentials: ACCOUNT },
    limit: { name: "exportMembers" },
    request: {},
    responses: { 200: json("It will be made", Export) },
  }),
  async (c) => c.json(toExport(await createExport(c.var.ctx)), 200),
);

community.openapi(
  operation({
    operationId: "getExport",
    tag,
    method: "get",
    path: "/community/v1/export/{exportId}",
    summary: "Get an export",
    description: "How far a file of members is and, once it is complete, an address from which to fetch it within the hour.",
    access: { credentials: ACCOUNT },
    request: { params: ExportParam },
    responses: { 200: json("How far it is", ExportState) },
    errors: ["not_found"],
  }),
  async (c) => {
    const row = await getExport(c.var.ctx, c.req.valid("param").exportId);
    return c.json(toExportState(row, await linkExport(c.var.ctx, row), new URL(c.req.url).origin), 200);
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
      "The file itself: CSV as RFC 4180 has it, in UTF-8 without a byte order mark, its lines ended by CRLF: a header, then a line for each member, oldest first. Times are ISO 8601 in UTC, `last_login` is empty where there was none, `marketing_optin` is `true` or `false`, `tags` and `subscriptions` (skus that are held) are JSON lists. What a spreadsheet would take for a formula begins with an apostrophe. A link that has expired is a 404.",
    access: { credentials: ANYONE },
    request: { params: FileParam },
    responses: { 200: { description: "The file", content: { "text/csv": { schema: { type: "string", example: EXPORT_SAMPLE } } } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { row, text } = await openExport(c.var.ctx, c.req.valid("param").token);
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
    description: "Gives a member what a subscription stands for, without payment. Who holds it already keeps what they have.",
    access: { credentials: ACCOUNT },
    request: { query: GrantQuery },
    responses: { 200: json("It is granted", Outcome) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await grantToMember(c.var.ctx, c.req.valid("query")), 200),
);

// The same by either method.
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
        "Takes one of the actions on what a member holds or held. What can't be done answers `success: false` and says why; a call that failed on the way may be repeated, and pays nothing back twice, but for `justRefund` with a `refundAmount`: that is another refund unless it is repeated under its `Idempotency-Key`.",
      access: { credentials: ACCOUNT },
      request: { query: UpdateQuery },
      responses: { 200: json("What became of it", Outcome) },
      errors: ["not_found", "conflict", "billing_not_configured", "unavailable"],
    }),
    async (c) => c.json(await updateMemberEntitlement(c.var.ctx, c.req.valid("query")), 200),
  );
}
