import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT } from "#worker/http/credentials.ts";
import { connectionAttributes } from "#worker/http/language.ts";
import { operation } from "#worker/http/operation.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { getConfiguration, getConfigurationByMetadata } from "#worker/services/pages/configuration.ts";
import { Configuration, MetadataQuery, toConfiguration } from "#worker/services/pages/configuration-schemas.ts";
import { PageIdParam } from "#worker/services/pages/schemas.ts";

export const configurations = createArea();

const common = {
  tag: "Pages",
  method: "get",
  access: { credentials: CLIENT, optional: ACCOUNT, accounts: "signedIn" },
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
      "Everything a player needs to set up the page with this value in one of its external fields; if several pages match, the oldest one. With a viewer's token, the panels for the viewer's segments are included.",
    request: { query: MetadataQuery },
  }),
  async (c) =>
    c.json(toConfiguration(await getConfigurationByMetadata(c.get("ctx"), c.req.valid("query").metadata, connectionAttributes(c))), 200),
);

configurations.openapi(
  operation({
    ...common,
    operationId: "getConfiguration",
    path: "/page/v2/configuration/{pageId}",
    summary: "Get a page's configuration",
    description:
      "Everything a player needs to set up the page: its current panels, theme and site. With a viewer's token, the panels for the viewer's segments are included.",
    request: { params: PageIdParam },
  }),
  async (c) => c.json(toConfiguration(await getConfiguration(c.get("ctx"), c.req.valid("param").pageId, connectionAttributes(c))), 200),
);
