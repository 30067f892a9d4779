import type { SiteRow } from "#db/schema/sites.ts";
import { type Ctx, newRow } from "#worker/services/core/context.ts";
import { SiteSettings } from "./schemas.ts";

/** The row of a new site, with the id of the context. */
export function newSiteRow(ctx: Ctx, { slug, name }: Pick<SiteRow, "slug" | "name">): SiteRow {
  const { siteId: id, ...stamps } = newRow(ctx);
  return {
    ...stamps,
    id,
    slug,
    name,
    collections: [],
    regions: {},
    settings: SiteSettings.parse({}),
    style: {},
    features: {},
    shards: [],
    tags: [],
    deviceLimit: 3,
    serviceChargeRate: null,
  };
}
