import { z } from "@hono/zod-openapi";
import { ACCESS_CODE_TYPES } from "#db/enums.ts";
import type { AccessCodeRow } from "#db/schema/commerce/access-codes.ts";
import { Id, Sku, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { normalizeCode, typedCode } from "#worker/lib/crypto/codes.ts";

/** 39 bits are enough: a code is valid for ten minutes, and failed guesses are limited. */
export const TV_CODE_LENGTH = 8;

const Code = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "Letters, digits, dots, hyphens and underscores, starting with a letter or digit")
  .openapi({ example: "HARBOUR-2026" });

const AccessCodeType = z
  .enum(ACCESS_CODE_TYPES)
  .describe("`subscription` grants the sku's entitlement; `login` lets the account through the login gates that name the sku");

/** Comma-separated in the query string. */
const TagList = z
  .string()
  .max(1000)
  .transform((text) => text.split(",").map((tag) => tag.trim()))
  .pipe(Tags)
  .openapi({ type: "string", example: "press,season-2026" });

export const AccessCode = z
  .object({
    _id: Id,
    accessCode: z.string().describe("Case-insensitive when redeemed"),
    siteId: Id,
    sku: z.string(),
    type: AccessCodeType,
    accountId: Id.nullable().describe("For a redeemed login code, the account that redeemed it"),
    consumedAt: Time.nullable().describe("When the code was redeemed"),
    tags: Tags,
    ...Tracked,
  })
  .openapi("AccessCode");

export const AddAccessCodeQuery = z.strictObject({
  accessCode: Code,
  siteId: Id.describe("Must equal Tifo-Client-Id").openapi({ example: "5eed00000000000000000001" }),
  sku: Sku,
  type: AccessCodeType,
  tags: TagList.optional(),
});

export const AccessCodeFilters = {
  sku: Sku.optional(),
  type: z.enum(ACCESS_CODE_TYPES).optional(),
  tags: TagList.optional().openapi({ type: "string", description: "Codes that have all of these tags, comma-separated" }),
};

/** The code as typed: a malformed code counts as an unknown one, not as invalid input. */
export const ConsumeParam = z.object({ accessCode: z.string().min(1).max(200).openapi({ example: "HARBOUR-2026" }) });

export const Redeemed = z
  .object({ success: z.boolean(), message: z.string().describe("What was redeemed, or why the code was rejected") })
  .openapi("Redeemed");

export const BulkQuery = z.strictObject({ kind: z.enum(["csv", "json"]).default("json") });

export const BulkInput = z
  .strictObject({ qty: z.number().int().min(1).max(100_000), sku: Sku, tags: Tags.default([]) })
  .openapi("BulkAccessCodesInput", { example: { qty: 20, sku: "season-pass", tags: ["press"] } });

export const BulkResult = z
  .object({ success: z.literal(true), qty: z.number().int(), sku: z.string(), accessCodes: z.array(z.string()) })
  .openapi("BulkAccessCodes");

export const TvCodeInput = z
  .strictObject({
    deviceId: z
      .string()
      .regex(/^[\x21-\x7e]+$/, "Printable characters without spaces")
      .min(1)
      .max(200),
  })
  .openapi("TvCodeInput", { example: { deviceId: "living-room-tv" } });

export const TvCode = z
  .object({
    code: z.string().openapi({ example: "K7PQ2MXB" }),
    expiresAt: Time,
    interval: z.number().int().describe("Seconds to wait between polls"),
  })
  .openapi("TvCode");

const TypedTvCode = z
  .string()
  .max(40)
  .regex(typedCode(TV_CODE_LENGTH), `${TV_CODE_LENGTH} letters and digits`)
  .openapi({ example: "K7PQ2MXB" })
  .describe("Case-insensitive; spaces and hyphens are ignored");

export const ActivateTvInput = z.strictObject({ code: TypedTvCode.transform(normalizeCode) }).openapi("ActivateTvInput");

export const TvCodeParam = z.object({ code: TypedTvCode });

export const Activated = z.object({ success: z.literal(true) }).openapi("TvActivated");

export const TvStatus = z
  .discriminatedUnion("status", [
    z.object({ status: z.literal("pending") }),
    z.object({ status: z.literal("activated"), jwt: z.string(), refreshToken: z.string() }),
    z.object({ status: z.literal("expired") }),
  ])
  .openapi("TvStatus");

export type AddAccessCode = z.output<typeof AddAccessCodeQuery>;
export type BulkInput = z.output<typeof BulkInput>;
export type TvStatus = z.output<typeof TvStatus>;

export function toAccessCode(row: AccessCodeRow) {
  return { ...toAccessCodeEvent(row), accessCode: row.accessCode } satisfies z.output<typeof AccessCode>;
}

/** The code as events show it: without the code itself, so that readers of events can't redeem it. */
export function toAccessCodeEvent(row: AccessCodeRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    sku: row.sku,
    type: row.type,
    accountId: row.type === "login" ? row.accountId : null,
    consumedAt: row.consumedAt,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  };
}
