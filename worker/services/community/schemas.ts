import { z } from "@hono/zod-openapi";
import { EXPORT_STATUSES, RECURRENCES, REFUND_REASONS } from "#db/enums.ts";
import type { AccountRow, EntitlementRow, ExportRow } from "#db/schema/index.ts";
import { listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { fromQuery, Id, QueryBoolean, queryJson, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { actionsOf } from "#worker/services/subscriptions/entitlement-state.ts";
import { toEntitlement } from "#worker/services/subscriptions/entitlements.ts";
import { Entitlement } from "#worker/services/subscriptions/schemas.ts";

/** What a search looks in. */
export const SEARCH_BY = ["accountInfo", "entitlements", "paidEntitlements", "accessCode", "receiptNumber"] as const;

const AccountId = Id.openapi({ example: "5eed0000000000000000a003" });

const MemberFilter = z
  .strictObject({
    channelId: Id.optional().describe("Members who hold a sku that this channel's gate names"),
    timeStart: Time.optional().describe("Who joined then or later, milliseconds since 1970 UTC"),
    timeEnd: Time.optional().describe("Who joined before, milliseconds since 1970 UTC"),
  })
  .refine(({ timeStart, timeEnd }) => timeStart === undefined || timeEnd === undefined || timeStart < timeEnd, {
    message: "After timeStart",
    path: ["timeEnd"],
  });

export const MembersQuery = listQuery(["name", "created"], {})
  .omit({ search: true })
  .extend({
    offset: z
      .string()
      .regex(/^\d{1,15}$/, "A whole number")
      .transform(Number)
      .openapi({ type: "integer", example: 0 }),
    sortBy: z.enum(["name", "created"]).openapi({ example: "created" }),
    sortDirection: z
      .enum(["1", "-1", "2"])
      .transform((direction): 1 | -1 => (direction === "1" ? 1 : -1))
      .openapi({ type: "integer", description: "1 ascending, -1 descending (2 is read as -1)", example: -1 }),
    searchBy: z.enum(SEARCH_BY).default("accountInfo").openapi({
      description:
        "`accountInfo`: text in name or e-mail. `entitlements`, `paidEntitlements`: text in the sku, or the name of its subscription, of what is held, or was bought. `accessCode`, `receiptNumber`: the whole code or number.",
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
    subscriptions: z.array(z.string()).describe("Skus that the account holds"),
    ...Tracked,
  })
  .openapi("CommunityMember");

export const MemberList = listOf(Member).openapi("CommunityMemberList");

const MemberEntitlement = Entitlement.extend({
  name: z.string().nullable().describe("Of the subscription; null where the site has none of this sku any more"),
  recurrence: z.enum(RECURRENCES).nullable(),
  wasRefunded: z.boolean().describe("Whether money went back, of the last period where it is paid regularly"),
  entitlementActions: z
    .object({ canCancel: z.boolean(), canRefund: z.boolean(), canRemove: z.boolean() })
    .describe("Which actions of `update-entitlement` would be taken: `cancel`, `justRefund`, `remove`"),
}).openapi("CommunityEntitlement");

export const MemberDetails = Member.extend({
  entitlements: z.array(MemberEntitlement).describe("What is held first, then what was; of each the newest first; at most 200"),
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
      "`cancel` ends it at once, and regular payments with it; `scheduleCancel` ends both with the period that is paid for; `remove` takes away what is not paid regularly; `justRefund` pays back and leaves it",
    ).openapi({ example: "remove" }),
    grantRefund: QueryBoolean.openapi({
      type: "boolean",
      description: "Whether money goes back too; always with `justRefund`",
      example: false,
    }),
    reason: z.enum(REFUND_REASONS).optional().openapi({ description: "With `grantRefund`: `requested_by_customer` unless given" }),
    refundAmount: fromQuery(z.number().int().min(1).max(99_999_999)).optional().openapi({
      description: "With `grantRefund`: minor units of the currency that was paid in; all that is left of the payment unless given",
    }),
    refundDetails: z.string().trim().max(500).optional().openapi({ description: "With `grantRefund`: a note for whoever reads the event" }),
  })
  .refine(({ action, grantRefund }) => action !== "justRefund" || grantRefund, { message: "True for justRefund", path: ["grantRefund"] })
  .superRefine(({ grantRefund, reason, refundAmount, refundDetails }, check) => {
    for (const [name, value] of Object.entries({ reason, refundAmount, refundDetails })) {
      if (!grantRefund && value !== undefined) check.addIssue({ code: "custom", message: "Only where grantRefund is true", path: [name] });
    }
  });

export const Outcome = z.object({ success: z.boolean(), message: z.string().optional().describe("Why not") }).openapi("CommunityOutcome");

const ExportStatus = z.enum(EXPORT_STATUSES);

export const Export = z
  .object({ exportId: Id, fileName: z.string().openapi({ example: "members-2026-11-21.csv" }), status: ExportStatus })
  .openapi("CommunityExport");

export const ExportState = Export.extend({
  progress: z.number().int().min(0).max(100).describe("Per cent"),
  rows: z.number().int().describe("Members in the file so far"),
  downloadUrl: z.string().nullable().describe("Of a complete file: fetches it, for whoever has the address, until downloadExpires"),
  downloadExpires: Time.nullable(),
  ...Tracked,
}).openapi("CommunityExportState");

/** What events say of an export: nothing by which the file could be had. */
export const ExportEvent = Export.extend({ siteId: Id, accountId: Id.describe("Who asked for it"), rows: z.number().int(), ...Tracked });

/** What the log says of money that an admin has sent back. */
export const RefundEvent = z.object({
  entitlementId: Id,
  siteId: Id,
  accountId: Id,
  action: Action,
  amount: z.number().int().nullable().describe("Minor units"),
  reason: z.enum(REFUND_REASONS),
  refundDetails: z.string().nullable(),
});

export const ExportParam = z.object({ exportId: Id.openapi({ example: "5eed0000000000000000ee01" }) });

export const FileParam = z.object({
  token: z.string().min(1).max(200).openapi({ example: "5eed00000000000000000001.5eed0000000000000000ee01.1795166400000.c2lnbmF0dXJl" }),
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
