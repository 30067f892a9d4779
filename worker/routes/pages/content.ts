import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { DEVICE_WITH_OR_WITHOUT_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { getContent, type Viewer } from "#worker/services/pages/content.ts";
import { ContentQuery, PageContent, PageSlugParam, toPageContent } from "#worker/services/pages/content-schemas.ts";
import { PageIdParam } from "#worker/services/pages/schemas.ts";

export const pageContent = createArea();

const common = {
  tag: "Pages",
  method: "get",
  access: { credentials: DEVICE_WITH_OR_WITHOUT_ACCOUNT, accounts: "any" },
  responses: { 200: json("The page, and whether it may be played", PageContent) },
  errors: ["not_found"],
} as const;

const rules =
  "and whether this viewer may play it now, by its regions, schedule, gate and preview and by the account's devices. Whoever is signed in and may play takes one of the account's slots for the device. While a preview runs, ask again at least once a minute: the time between two calls is what is watched of it.";

pageContent.openapi(
  operation({
    ...common,
    operationId: "getContentById",
    path: "/page/v2/content/id/{pageId}",
    summary: "Get a page's content by id",
    description: `The page of this id, ${rules}`,
    request: { params: PageIdParam, query: ContentQuery },
  }),
  async (c) => {
    const which = { id: c.req.valid("param").pageId, ...c.req.valid("query") };
    return c.json(toPageContent(await getContent(c.var.ctx, which, viewerOf(c))), 200);
  },
);

pageContent.openapi(
  operation({
    ...common,
    operationId: "getContentBySlug",
    path: "/page/v2/content/slug/{pageSlug}",
    summary: "Get a page's content by slug",
    description: `The page of this slug, ${rules}`,
    request: { params: PageSlugParam, query: ContentQuery },
  }),
  async (c) => {
    const which = { slug: c.req.valid("param").pageSlug, ...c.req.valid("query") };
    return c.json(toPageContent(await getContent(c.var.ctx, which, viewerOf(c))), 200);
  },
);

const DESCRIPTION_MAX = 200;

/** The country is what Cloudflare says of the address: what a caller writes there, it overwrites. */
function viewerOf(c: Context<AppEnv>): Viewer {
  return {
    country: c.req.header("CF-IPCountry"),
    description: (c.req.header("User-Agent") ?? "").slice(0, DESCRIPTION_MAX),
  };
}
