import { z } from "@hono/zod-openapi";
import { BUNDLE_ITEM_TYPES } from "#db/enums.ts";
import type { BundleRow } from "#db/schema/commerce/bundles.ts";
import { Id, ImageUrl, Sku, Tracked } from "#worker/lib/schemas/common.ts";
import { ENDS_IN_ZERO, isPayable } from "#worker/lib/money.ts";
import { Currency, Money } from "#worker/services/billing/schemas.ts";

const BundleItem = z
  .strictObject({
    type: z.enum(BUNDLE_ITEM_TYPES),
    id: Sku.describe("For a ticket, the sku that it grants; for a shop item, the product's id in the shop").openapi({
      example: "match-pass",
    }),
  })
  .openapi("BundleItem");

const editable = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Derby day bundle" }),
  sku: Sku,
  price: Money.min(1),
  presentmentCurrency: Currency,
  items: z.array(BundleItem).min(1).max(50),
  description: z.string().max(2000),
  image: ImageUrl.nullish(),
};

export const BundleInput = z
  .strictObject({
    ...editable,
    description: editable.description.default(""),
    siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
  })
  .refine(({ price, presentmentCurrency }) => isPayable(price, presentmentCurrency), { message: ENDS_IN_ZERO, path: ["price"] })
  .openapi("BundleInput", {
    example: {
      name: "Derby day bundle",
      sku: "derby-day",
      price: 2900,
      presentmentCurrency: "gbp",
      items: [
        { type: "ticket", id: "match-pass" },
        { type: "shopify", id: "8012345678901" },
      ],
      description: "The derby live, and the scarf to wear",
    },
  });

export const Bundle = z.object({ id: Id, siteId: Id, ...editable, image: ImageUrl.nullable(), ...Tracked }).openapi("Bundle");

export const BundleFilters = { sku: Sku.optional() };

export type BundleInput = z.output<typeof BundleInput>;

export function toBundle(row: BundleRow) {
  return {
    id: row.id,
    siteId: row.siteId,
    name: row.name,
    sku: row.sku,
    price: row.price,
    presentmentCurrency: row.presentmentCurrency,
    items: row.items,
    description: row.description,
    image: row.image,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Bundle>;
}
