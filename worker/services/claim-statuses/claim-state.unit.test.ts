import { expect, test } from "vitest";
import { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";
import { amountsOf, chargedIn, type ClaimContext, type ClaimStatus, initialStatus, transitionError } from "./claim-state.ts";

const prize: ClaimContext = { rewardType: "prize", regions: [], country: undefined, isSku: true, isAmount: false };

test.for<[status: string, change: Partial<ClaimContext>]>([
  ["SUCCESS", {}],
  ["PENDING", { isSku: false }],
  ["SUCCESS", { isSku: false, isAmount: true }],
  ["PENDING", { rewardType: "raffle", isAmount: true }],
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

test("over any changes of a claim's status, the wallet pays the cost exactly while the claim is pending or successful", () => {
  for (const start of CLAIM_STATUSES) {
    for (const path of pathsFrom(start)) {
      const claim = { cost: 50, charged: chargedIn(start, 50), rewardAmount: 80 };
      let paid = claim.charged;
      let rewarded = 0;
      for (const to of path) {
        const { cost, reward } = amountsOf(claim, to);
        paid -= cost;
        rewarded += reward;
        claim.charged = chargedIn(to, claim.cost);
        expect({ to, paid }).toEqual({ to, paid: to === "PENDING" || to === "SUCCESS" ? 50 : 0 });
      }
      expect(rewarded).toBe(path.includes("SUCCESS") ? 80 : 0);
    }
  }
});

/** The sequences of up to four allowed changes of a prize's claim. */
function pathsFrom(status: ClaimStatus, length = 4): ClaimStatus[][] {
  if (length === 0) return [[]];
  const next = CLAIM_STATUSES.filter((to) => transitionError({ status, rewardType: "prize" }, to) === null);
  return [[], ...next.flatMap((to) => pathsFrom(to, length - 1).map((rest) => [to, ...rest]))];
}
