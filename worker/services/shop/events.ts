import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { ShopEvent, ShopOrder } from "./schemas.ts";

const ids = { shop: "5eed0000000000000e006d90", shoporder: "5eed0000000000000e006d91" };

export const events = eventsOf(
  {
    services: ["shopify-service-v1"],
    ids,
    samples: [
      [/^shopify\.(dis)?connected$/, { _id: ids.shop, domain: "harbour-city.myshopify.com", receivesOrders: true }],
      [
        /^shopify\.orderPaid$/,
        {
          ...{
            _id: ids.shoporder,
            orderId: "5678901234567",
            name: "#1093",
            amount: 2400,
            currency: "gbp",
            claimId: SAMPLE_IDS.claimstatus,
          },
          items: [{ productId: "8012345678901", variantId: "44012345678901", sku: "derby-scarf", quantity: 1 }],
        },
      ],
    ],
  },
  {
    "shopify.connected": { data: ShopEvent, description: "The site's shop was connected or its connection changed", resource: "shop/_id" },
    "shopify.disconnected": { data: ShopEvent, description: "The site's shop was disconnected", resource: "shop/_id" },
    "shopify.orderPaid": {
      data: ShopOrder,
      description: "An order of the site's shop was paid; contains nothing about its customer",
      resource: "shoporder/_id",
    },
  },
);
