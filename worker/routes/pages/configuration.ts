import { createArea } from "#worker/http/area.ts";
import { CLIENT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { getConfiguration, getConfigurationByMetadata } from "#worker/services/pages/configuration.ts";
import { Configuration, MetadataQuery, toConfiguration } from "#worker/services/pages/configuration-schemas.ts";
import { PageIdParam } from "#worker/services/pages/schemas.ts";

export const configurations = createArea();

const common = {
  tag: "Pages",
  method: "get",
  access: { credentials: CLIENT },
  responses: { 200: json("The configuration", Configuration) },
  errors: ["not_found"],
} as const;

configurations.openapi(
  operation({
    ...common,
    operationId: "getConfigurationByMetadata",
    path: "/page/v2/configuration",
    summary: "Find a page's configuration",
    description:
      "Everything a player needs to set up the page with this value in one of its external fields; if several pages match, the oldest one.",
    request: { query: MetadataQuery },
  }),
  async (c) => c.json(toConfiguration(await getConfigurationByMetadata(c.var.ctx, c.req.valid("query").metadata)), 200),
);

configurations.openapi(
  operation({
    ...common,
    operationId: "getConfiguration",
    path: "/page/v2/configuration/{pageId}",
    summary: "Get a page's configuration",
    description: "Everything a player needs to set up the page: its current panels, theme and site.",
    request: { params: PageIdParam },
  }),
  async (c) => c.json(toConfiguration(await getConfiguration(c.var.ctx, c.req.valid("param").pageId)), 200),
);
