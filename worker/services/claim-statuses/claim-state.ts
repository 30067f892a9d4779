import type { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";

export type ClaimStatus = (typeof CLAIM_STATUSES)[number];

/** The allowed transitions of a claim; `SUCCESS` is final. */
export const CLAIM_TRANSITIONS: Record<ClaimStatus, readonly ClaimStatus[]> = {
  PENDING: ["SUCCESS", "ERROR", "ERROR_REGION"],
  ERROR: ["SUCCESS", "ERROR_REGION"],
  ERROR_REGION: ["SUCCESS", "ERROR"],
  SUCCESS: [],
};

/** What determines the status of a new claim. `country`: where the request came from, if known. */
export interface ClaimContext {
  rewardType: (typeof REWARD_TYPES)[number];
  regions: readonly string[];
  country: string | undefined;
  /** Whether the reward's product is a sku of the site, which can be granted immediately. */
  isSku: boolean;
  /** Whether the reward is nothing but an amount for the wallet, which can be paid immediately. */
  isAmount: boolean;
}

/** The status of a new claim. */
export function initialStatus({ rewardType, regions, country, isSku, isAmount }: ClaimContext): ClaimStatus {
  if (regions.length > 0 && (country === undefined || !regions.includes(country))) return "ERROR_REGION";
  return rewardType === "prize" && (isSku || isAmount) ? "SUCCESS" : "PENDING";
}

/** Why a claim can't change to a status; null if it can. */
export function transitionError(claim: { status: ClaimStatus; rewardType: ClaimContext["rewardType"] }, to: ClaimStatus): string | null {
  if (!CLAIM_TRANSITIONS[claim.status].includes(to)) return `A claim can't change from ${claim.status} to ${to}`;
  return claim.rewardType === "raffle" && to === "SUCCESS" ? "Only the draw decides who wins a raffle" : null;
}

/** What the wallet has to do with a claim, in minor units. */
export interface ClaimMoney {
  cost: number;
  /** How much of the cost the wallet has paid. */
  charged: number;
  rewardAmount: number;
}

/** How much of a claim's cost is paid in a status: an attempt that failed costs nothing. */
export function chargedIn(status: ClaimStatus, cost: number): number {
  return status === "PENDING" || status === "SUCCESS" ? cost : 0;
}

/** The amounts that a claim moves when it changes to a status: what of its cost is debited or refunded, and what the reward pays. */
export function amountsOf({ cost, charged, rewardAmount }: ClaimMoney, to: ClaimStatus): { cost: number; reward: number } {
  return { cost: charged - chargedIn(to, cost), reward: to === "SUCCESS" ? rewardAmount : 0 };
}
