import { broadcastCalls } from "./broadcasts.ts";
import type { TestSite } from "./harness.ts";

/** Bodies that contain an overlay of the site. */
async function withOverlay(site: TestSite): Promise<Record<string, unknown>> {
  const overlayId = await broadcastCalls(() => site).newOverlay();
  return { name: "Derby, first half", items: [{ kind: "broadcast", name: "Goal, home", overlayId }] };
}

export const RUNDOWN_BODIES: Record<string, (site: TestSite) => Promise<Record<string, unknown>>> = {
  createRundown: async (site) => ({ ...(await withOverlay(site)), channelId: site.channels[0] }),
  replaceRundown: withOverlay,
};
