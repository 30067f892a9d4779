import { z } from "@hono/zod-openapi";
import { randomHex } from "#worker/lib/ids.ts";
import type { CallOptions, TestSite } from "./harness.ts";
import { connectShop, DOMAIN, newOrder, signedWebhook, TOKEN, WEBHOOK_SECRET } from "./shopify-server.ts";

// Live values for the operations of the shop and of donations.

const Created = z.looseObject({ _id: z.string() });

async function newPanel(site: TestSite, renderer: Record<string, unknown>): Promise<string> {
  const body = { siteId: site.id, renderer: { panel_name: `Panel ${randomHex(3)}`, url: "https://demo.example/", ...renderer } };
  return Created.parse((await site.call("createPanel", { body })).body)._id;
}

/** Creates the resource of these paths. */
export const SHOP_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/shopify/v1/panels/{id}/products": async (site) => {
    await connectShop(site);
    return newPanel(site, { panel_type: "shopify", collection: "derby" });
  },
};

/** Complete calls by operation. */
export const SHOP_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = {
  checkoutDonation: async (site) => {
    const panelId = await newPanel(site, { panel_type: "donations", currency: "gbp", amounts: [1000] });
    const urls = { successUrl: "https://demo.example/thanks", cancelUrl: "https://demo.example/" };
    return { body: { panelId, amount: 1000, name: "Ada", message: "For the youth team", ...urls } };
  },
  connectShop: () => Promise.resolve({ body: { domain: DOMAIN, storefrontToken: TOKEN, webhookSecret: WEBHOOK_SECRET } }),
  getShopConnection: async (site) => {
    await connectShop(site);
    return {};
  },
  disconnectShop: async (site) => {
    await connectShop(site);
    return {};
  },
  listShopProducts: async (site) => {
    await connectShop(site);
    return { query: { collection: "derby" } };
  },
  receiveShopifyWebhook: async (site) => {
    await connectShop(site);
    return { params: { siteId: site.id }, ...(await signedWebhook(newOrder())) };
  },
};
