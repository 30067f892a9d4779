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
  access: { credentials: DEVICE_WITH_OR_WITHOUT_ACCOUNT, accounts: "any", readsPrimary: true },
  responses: { 200: json("The page, and whether it may be played", PageContent) },
  errors: ["not_found"],
} as const;

const rules =
  "and whether this viewer may play it now, based on its regions, schedule, gate and preview and on the account's devices. If a signed-in viewer may play, the device takes one of the account's slots. During a preview, repeat the request at least once a minute: the time between two requests counts as watched.";

pageContent.openapi(
  operation({
    ...common,
    operationId: "getContentById",
    path: "/page/v2/content/id/{pageId}",
    summary: "Get a page's content by id",
    description: `Returns the page with this id, ${rules}`,
    request: { params: PageIdParam, query: ContentQuery },
  }),
  async (c) => {
    const selector = { id: c.req.valid("param").pageId, ...c.req.valid("query") };
    return c.json(toPageContent(await getContent(c.get("ctx"), selector, viewerOf(c))), 200);
  },
);

pageContent.openapi(
  operation({
    ...common,
    operationId: "getContentBySlug",
    path: "/page/v2/content/slug/{pageSlug}",
    summary: "Get a page's content by slug",
    description: `Returns the page with this slug, ${rules}`,
    request: { params: PageSlugParam, query: ContentQuery },
  }),
  async (c) => {
    const selector = { slug: c.req.valid("param").pageSlug, ...c.req.valid("query") };
    return c.json(toPageContent(await getContent(c.get("ctx"), selector, viewerOf(c))), 200);
  },
);

const DESCRIPTION_MAX = 200;

/** Cloudflare sets the country from the address and overwrites any value that the caller sends. */
function viewerOf(c: Context<AppEnv>): Viewer {
  return {
    country: c.req.header("CF-IPCountry"),
    description: (c.req.header("User-Agent") ?? "").slice(0, DESCRIPTION_MAX),
  };
}
