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
}

/** The status of a new claim. */
export function initialStatus({ rewardType, regions, country, isSku }: ClaimContext): ClaimStatus {
  if (regions.length > 0 && (country === undefined || !regions.includes(country))) return "ERROR_REGION";
  return rewardType === "prize" && isSku ? "SUCCESS" : "PENDING";
}

/** Why a claim can't change to a status; null if it can. */
export function transitionError(claim: { status: ClaimStatus; rewardType: ClaimContext["rewardType"] }, to: ClaimStatus): string | null {
  if (!CLAIM_TRANSITIONS[claim.status].includes(to)) return `A claim can't change from ${claim.status} to ${to}`;
  return claim.rewardType === "raffle" && to === "SUCCESS" ? "Only the draw decides who wins a raffle" : null;
}
