import { expect, test } from "vitest";
import { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";
import { type Claiming, firstStatus, refusedMove } from "./claim-state.ts";

const prize: Claiming = { rewardType: "prize", regions: [], country: undefined, isSku: true };

test.for<[status: string, change: Partial<Claiming>]>([
  ["SUCCESS", {}],
  ["PENDING", { isSku: false }],
  ["PENDING", { rewardType: "raffle" }],
  ["PENDING", { rewardType: "webhook" }],
  ["PENDING", { rewardType: "prize-service-specific" }],
  ["SUCCESS", { regions: ["GB", "IE"], country: "IE" }],
  ["ERROR_REGION", { regions: ["GB"], country: "FR" }],
  ["ERROR_REGION", { regions: ["GB"] }],
  ["ERROR_REGION", { rewardType: "raffle", regions: ["GB"], country: "FR" }],
])("a claim begins as %s with %j", ([status, change]) => {
  expect(firstStatus({ ...prize, ...change })).toBe(status);
});

test("a claim moves on, and never from SUCCESS or back to PENDING", () => {
  const moves = CLAIM_STATUSES.flatMap((from) =>
    CLAIM_STATUSES.filter((to) => refusedMove({ status: from, rewardType: "prize" }, to) === null).map((to) => `${from} ${to}`),
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

test("nobody is made a raffle's winner by hand, but an entry may be ended", () => {
  const wins = REWARD_TYPES.filter((rewardType) => refusedMove({ status: "PENDING", rewardType }, "SUCCESS") === null);
  expect(wins).toEqual(["prize", "webhook", "prize-service-specific"]);
  expect(refusedMove({ status: "PENDING", rewardType: "raffle" }, "ERROR")).toBeNull();
});
