import { z } from "@hono/zod-openapi";
import { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";
import type { ClaimRow } from "#db/schema/engagement/quests.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { fromQuery, Id, Tracked } from "#worker/lib/schemas/common.ts";
import { pickFields } from "#worker/services/core/fields.ts";

const Status = z.enum(CLAIM_STATUSES);
const Message = z.string().max(5000);

export const ClaimStatus = z
  .object({
    _id: Id,
    siteId: Id,
    questId: Id,
    accountId: Id,
    productId: z.string().nullable(),
    rewardType: z.enum(REWARD_TYPES),
    status: Status.describe(
      "`PENDING`: the reward isn't granted yet; `SUCCESS`: it was granted; `ERROR`: it won't be granted, as for raffle entries that weren't drawn; `ERROR_REGION`: it isn't available where it was claimed",
    ),
    message: Message.nullable().describe("A message for the viewer"),
    ...Tracked,
  })
  .openapi("ClaimStatus");

export const ClaimMove = z
  .strictObject({ status: Status.exclude(["PENDING"]), message: Message.min(1).optional().describe("Replaces the claim's message") })
  .openapi("ClaimMove", { example: { status: "ERROR", message: "The address was not found" } });

const Moment = fromQuery(z.number().int()).optional().describe("Milliseconds since 1970 UTC");

export const ClaimQuery = listQuery(["modified", "created", "status"], {
  _id: Id.optional(),
  questId: Id.optional(),
  accountId: Id.optional(),
  productId: z.string().max(100).optional(),
  rewardType: z.enum(REWARD_TYPES).optional(),
  status: Status.optional(),
  created: Moment,
  modified: Moment,
});

export type ClaimMove = z.output<typeof ClaimMove>;
export type ClaimQuery = z.output<typeof ClaimQuery>;

/** The fields of a claim, each with its column. */
export const CLAIM_FIELDS = {
  _id: "id",
  siteId: "siteId",
  questId: "questId",
  accountId: "accountId",
  productId: "productId",
  rewardType: "rewardType",
  status: "status",
  message: "message",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof ClaimRow>;

export function toClaimStatus(row: ClaimRow) {
  return pickFields(row, CLAIM_FIELDS) satisfies z.output<typeof ClaimStatus>;
}
