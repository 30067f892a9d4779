import { z } from "@hono/zod-openapi";
import { randomHex } from "#worker/lib/ids.ts";
import { type CallOptions, ORIGIN, type TestSite } from "./harness.ts";

const Created = z.looseObject({ _id: z.string() });

/** A panel, on a channel that anybody may watch. */
async function newEmbed(site: TestSite): Promise<{ siteId: string; channelId: string; panelId: string }> {
  const renderer = { panel_type: "chat", panel_name: "Match chat" };
  const { _id: panelId } = Created.parse((await site.call("createPanel", { body: { siteId: site.id, renderer } })).body);
  const channelId = await site.addChannel(`embed-${randomHex(6)}`, { sidebar: { panels: [panelId] } });
  return { siteId: site.id, channelId, panelId };
}

export const PANEL_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  getPanelEmbed: async (site) => ({ params: await newEmbed(site) }),
  getPanelOembed: async (site) => {
    const { siteId, channelId, panelId } = await newEmbed(site);
    return { query: { url: `${ORIGIN}/panel/v3/embed/${siteId}/${channelId}/${panelId}` } };
  },
};
