import { expect, test } from "vitest";
import { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";
import { type ClaimContext, initialStatus, transitionError } from "./claim-state.ts";

const prize: ClaimContext = { rewardType: "prize", regions: [], country: undefined, isSku: true };

test.for<[status: string, change: Partial<ClaimContext>]>([
  ["SUCCESS", {}],
  ["PENDING", { isSku: false }],
  ["PENDING", { rewardType: "raffle" }],
  ["PENDING", { rewardType: "webhook" }],
  ["PENDING", { rewardType: "prize-service-specific" }],
  ["SUCCESS", { regions: ["GB", "IE"], country: "IE" }],
  ["ERROR_REGION", { regions: ["GB"], country: "FR" }],
  ["ERROR_REGION", { regions: ["GB"] }],
  ["ERROR_REGION", { rewardType: "raffle", regions: ["GB"], country: "FR" }],
])("a claim starts as %s with %j", ([status, change]) => {
  expect(initialStatus({ ...prize, ...change })).toBe(status);
});

test("a claim never changes from SUCCESS or back to PENDING", () => {
  const moves = CLAIM_STATUSES.flatMap((from) =>
    CLAIM_STATUSES.filter((to) => transitionError({ status: from, rewardType: "prize" }, to) === null).map((to) => `${from} ${to}`),
  );
  expect(moves.sort()).toEqual([
    "ERROR ERROR_REGION",
    "ERROR SUCCESS",
    "ERROR_REGION ERROR",
    "ERROR_REGION SUCCESS",
    "PENDING ERROR",
    "PENDING ERROR_REGION",
    "PENDING SUCCESS",
  ]);
});

test("a raffle's claim can't be set to SUCCESS, but can be set to ERROR", () => {
  const wins = REWARD_TYPES.filter((rewardType) => transitionError({ status: "PENDING", rewardType }, "SUCCESS") === null);
  expect(wins).toEqual(["prize", "webhook", "prize-service-specific"]);
  expect(transitionError({ status: "PENDING", rewardType: "raffle" }, "ERROR")).toBeNull();
});
