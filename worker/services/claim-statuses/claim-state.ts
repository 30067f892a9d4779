import type { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";

export type ClaimStatus = (typeof CLAIM_STATUSES)[number];

/** Where a claim may be moved from each status. What was given stays given. */
export const CLAIM_MOVES: Record<ClaimStatus, readonly ClaimStatus[]> = {
  PENDING: ["SUCCESS", "ERROR", "ERROR_REGION"],
  ERROR: ["SUCCESS", "ERROR_REGION"],
  ERROR_REGION: ["SUCCESS", "ERROR"],
  SUCCESS: [],
};

/** What a new claim follows from. `country`: where the request came from, where that is known. */
export interface Claiming {
  rewardType: (typeof REWARD_TYPES)[number];
  regions: readonly string[];
  country: string | undefined;
  /** Whether the reward's product is a sku of the site, which can be granted at once. */
  isSku: boolean;
}

/** How a claim begins. */
export function firstStatus({ rewardType, regions, country, isSku }: Claiming): ClaimStatus {
  if (regions.length > 0 && (country === undefined || !regions.includes(country))) return "ERROR_REGION";
  return rewardType === "prize" && isSku ? "SUCCESS" : "PENDING";
}

/** Why a claim can't be moved so; null where it can. */
export function refusedMove(claim: { status: ClaimStatus; rewardType: Claiming["rewardType"] }, to: ClaimStatus): string | null {
  if (!CLAIM_MOVES[claim.status].includes(to)) return `A claim can't go from ${claim.status} to ${to}`;
  return claim.rewardType === "raffle" && to === "SUCCESS" ? "Who wins a raffle is drawn" : null;
}
