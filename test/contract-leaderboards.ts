import type { TestSite } from "./harness.ts";

/** Bodies that contain an account of the site. */
export const LEADERBOARD_BODIES: Record<string, (site: TestSite) => Promise<Record<string, unknown>>> = {
  awardPoints: async (site) => ({ accountId: site.accounts.viewer.id, points: 25, reason: "Best costume" }),
};
