import { z } from "@hono/zod-openapi";
import { EXPORT_STATUSES, RECURRENCES, REFUND_REASONS } from "#db/enums.ts";
import type { AccountRow } from "#db/schema/accounts.ts";
import type { EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import type { ExportRow } from "#db/schema/commerce/exports.ts";
import { listOf, listQuery, SortDirection } from "#worker/services/core/list-schemas.ts";
import { fromQuery, Id, QueryBoolean, queryJson, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { actionsOf } from "#worker/services/subscriptions/entitlement-state.ts";
import { Entitlement, toEntitlement } from "#worker/services/subscriptions/schemas.ts";

export const SEARCH_BY = ["accountInfo", "entitlements", "paidEntitlements", "accessCode", "receiptNumber"] as const;

const AccountId = Id.openapi({ example: "5eed0000000000000000a003" });

const MemberFilter = z
  .strictObject({
    channelId: Id.optional().describe("Only members who hold a sku of this channel's gate"),
    timeStart: Time.optional().describe("Only members who joined at or after this time, in epoch milliseconds"),
    timeEnd: Time.optional().describe("Only members who joined before this time, in epoch milliseconds"),
  })
  .refine(({ timeStart, timeEnd }) => timeStart === undefined || timeEnd === undefined || timeStart < timeEnd, {
    message: "Must be after timeStart",
    path: ["timeEnd"],
  });

export const MembersQuery = listQuery(["name", "created"], {})
  .omit({ search: true })
  .extend({
    offset: z
      .string()
      .regex(/^\d{1,15}$/, "Must be a whole number")
      .transform(Number)
      .openapi({ type: "integer", minimum: 0, example: 0 }),
    sortBy: z.enum(["name", "created"]).openapi({ example: "created" }),
    sortDirection: SortDirection,
    searchBy: z.enum(SEARCH_BY).default("accountInfo").openapi({
      description:
        "What `searchQuery` is compared with. `accountInfo`: part of the name or email address. `entitlements`: part of the sku or subscription name of a current entitlement; `paidEntitlements`: of any purchased one. `accessCode`, `receiptNumber`: the whole code or number.",
    }),
    searchQuery: z.string().trim().max(100).optional(),
    filter: queryJson(MemberFilter)
      .optional()
      .openapi({ type: "string", description: "JSON: `channelId`, `timeStart`, `timeEnd`", example: '{"timeStart":1795046400000}' }),
  });

export const Member = z
  .object({
    _id: Id.describe("The account's id"),
    siteId: Id,
    name: z.string(),
    email: z.string(),
    lastLogin: Time.nullable(),
    marketingOptin: z.boolean(),
    tags: Tags,
    subscriptions: z.array(z.string()).describe("The skus that the account holds"),
    ...Tracked,
  })
  .openapi("CommunityMember");

export const MemberList = listOf(Member).openapi("CommunityMemberList");

const MemberEntitlement = Entitlement.extend({
  name: z.string().nullable().describe("The subscription's name; null if the site has no subscription with this sku any more"),
  recurrence: z.enum(RECURRENCES).nullable(),
  wasRefunded: z.boolean().describe("Whether any of the payment was refunded; for a recurring subscription, of the last period"),
  entitlementActions: z
    .object({ canCancel: z.boolean(), canRefund: z.boolean(), canRemove: z.boolean() })
    .describe("Which actions of `update-entitlement` are possible: `cancel`, `justRefund`, `remove`"),
}).openapi("CommunityEntitlement");

export const MemberDetails = Member.extend({
  entitlements: z.array(MemberEntitlement).describe("Current entitlements first, then former ones, each newest first; at most 200"),
}).openapi("CommunityMemberDetails");

export const MemberQuery = z.strictObject({ accountId: AccountId });

export const GrantQuery = z.strictObject({
  accountId: AccountId,
  subscriptionId: Id.openapi({ example: "5eed00000000000000004b01" }),
});

const Action = z.enum(["cancel", "justRefund", "remove", "scheduleCancel"]);

export const UpdateQuery = z
  .strictObject({
    accountId: AccountId,
    id: Id.describe("The entitlement").openapi({ example: "5eed00000000000000004c01" }),
    action: Action.describe(
      "`cancel` ends the entitlement and its recurring payments immediately; `scheduleCancel` ends both at the end of the paid period; `remove` revokes an entitlement without recurring payments; `justRefund` refunds the payment and keeps the entitlement",
    ).openapi({ example: "remove" }),
    grantRefund: QueryBoolean.openapi({
      type: "boolean",
      description: "Whether to refund the payment too; must be true with `justRefund`",
      example: false,
    }),
    reason: z.enum(REFUND_REASONS).optional().openapi({ description: "With `grantRefund`; defaults to `requested_by_customer`" }),
    refundAmount: fromQuery(z.number().int().min(1).max(99_999_999)).optional().openapi({
      description: "With `grantRefund`: in minor units of the payment's currency; defaults to everything that isn't refunded yet",
    }),
    refundDetails: z
      .string()
      .trim()
      .max(500)
      .optional()
      .openapi({ description: "With `grantRefund`: a note that is included in the event" }),
  })
  .refine(({ action, grantRefund }) => action !== "justRefund" || grantRefund, {
    message: "Must be true for justRefund",
    path: ["grantRefund"],
  })
  .superRefine(({ grantRefund, reason, refundAmount, refundDetails }, check) => {
    for (const [name, value] of Object.entries({ reason, refundAmount, refundDetails })) {
      if (!grantRefund && value !== undefined)
        check.addIssue({ code: "custom", message: "Only allowed if grantRefund is true", path: [name] });
    }
  });

export const Outcome = z
  .object({ success: z.boolean(), message: z.string().optional().describe("Why the action failed") })
  .openapi("CommunityOutcome");

const ExportStatus = z.enum(EXPORT_STATUSES);

export const Export = z
  .object({ exportId: Id, fileName: z.string().openapi({ example: "members-2026-11-21.csv" }), status: ExportStatus })
  .openapi("CommunityExport");

export const ExportState = Export.extend({
  progress: z.number().int().min(0).max(100).describe("Progress in percent"),
  rows: z.number().int().describe("The number of members in the file so far"),
  downloadUrl: z.string().nullable().describe("The download URL of a complete file, valid without credentials until downloadExpires"),
  downloadExpires: Time.nullable(),
  ...Tracked,
}).openapi("CommunityExportState");

/** The export as events show it, without anything that gives access to the file. */
export const ExportEvent = Export.extend({
  siteId: Id,
  accountId: Id.describe("The account that requested it"),
  rows: z.number().int(),
  ...Tracked,
});

/** The event for a refund granted by an admin. */
export const RefundEvent = z.object({
  entitlementId: Id,
  siteId: Id,
  accountId: Id,
  action: Action,
  amount: z.number().int().nullable().describe("In minor units"),
  reason: z.enum(REFUND_REASONS),
  refundDetails: z.string().nullable(),
});

export const ExportParam = z.object({ exportId: Id.openapi({ example: "5eed0000000000000000ee01" }) });

export const FileParam = z.object({
  token: z
    .string()
    .min(1)
    .max(200)
    .openapi({ example: "5eed00000000000000000001.5eed0000000000000000ee01.5eed0000000000000000a001.1795166400000.c2lnbmF0dXJl" }),
});

export type MembersQuery = z.output<typeof MembersQuery>;
export type UpdateQuery = z.output<typeof UpdateQuery>;
export type MemberEntitlementRow = EntitlementRow & { name: string | null; recurrence: (typeof RECURRENCES)[number] | null };

export function toMember(row: AccountRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    email: row.email,
    lastLogin: row.lastLogin,
    marketingOptin: row.marketingOptin,
    tags: row.tags,
    subscriptions: row.subscriptions,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Member>;
}

export function toMemberDetails({ account, entitlements }: { account: AccountRow; entitlements: MemberEntitlementRow[] }) {
  return { ...toMember(account), entitlements: entitlements.map(toMemberEntitlement) } satisfies z.output<typeof MemberDetails>;
}

function toMemberEntitlement({ name, recurrence, ...row }: MemberEntitlementRow) {
  return {
    ...toEntitlement(row),
    name,
    recurrence,
    wasRefunded: row.refunded > 0,
    entitlementActions: actionsOf(row),
  } satisfies z.output<typeof MemberEntitlement>;
}

export function toExport(row: ExportRow) {
  return { exportId: row.id, fileName: row.fileName, status: row.status } satisfies z.output<typeof Export>;
}

export function toExportState(row: ExportRow, link: { token: string; expires: number } | null, origin: string) {
  const progress = row.status === "complete" ? 100 : Math.min(99, Math.floor((100 * row.rows) / Math.max(1, row.totalRows)));
  return {
    ...toExport(row),
    progress,
    rows: row.rows,
    downloadUrl: link && `${origin}/community/v1/export/file/${link.token}`,
    downloadExpires: link && link.expires,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof ExportState>;
}

export function toExportEvent(row: ExportRow) {
  const { siteId, accountId, rows, created, modified } = row;
  return { ...toExport(row), siteId, accountId, rows, created, modified } satisfies z.output<typeof ExportEvent>;
}
