import { z } from "@hono/zod-openapi";
import { LinkUrl } from "./common.ts";

/** How a shop's URLs name products and collections. */
export const Handle = z
  .string()
  .max(255)
  .regex(/^[\p{Ll}\p{Lo}\p{N}][\p{Ll}\p{Lo}\p{N}_-]*$/u, "The handle in the URL of a product or collection")
  .openapi({ type: "string", example: "derby-scarf" });

/** The fields of a `shopify` panel. */
export const shopFields = {
  url: LinkUrl.describe("The shop, or one of its collections"),
  collection: Handle.optional().describe("The handle of the collection whose products are shown"),
  product_handles: z.array(Handle).max(50).default([]).describe("The products to show, if not those of a collection; empty: only the link"),
};
