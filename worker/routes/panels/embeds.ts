import { createArea } from "#worker/http/area.ts";
import { ANYONE } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { Failure } from "#worker/lib/errors.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { embedHeaders, embedPage, toOEmbed } from "#worker/services/panels/embed-page.ts";
import { EmbedParams, OEmbed, OEmbedQuery } from "#worker/services/panels/embed-schemas.ts";
import { findEmbeddablePanel, panelAt } from "#worker/services/panels/embeds.ts";

export const panelEmbeds = createArea();

const common = { tag: "Panels", method: "get", access: { credentials: ANYONE } } as const;

panelEmbeds.openapi(
  operation({
    ...common,
    operationId: "getPanelOembed",
    path: "/panel/v3/oembed",
    summary: "Embed a panel by oEmbed",
    description:
      "The [oEmbed](https://oembed.com) endpoint for the URLs of panels' embed pages. Only panels that everybody may see have them: a panel for a segment, or one of a channel with a gate, a schedule or regions, is a 404.",
    request: { query: OEmbedQuery },
    responses: { 200: json("What to embed", OEmbed) },
    errors: ["not_found", "format_not_supported"],
  }),
  async (c) => {
    const { url, format = "json", ...bounds } = c.req.valid("query");
    if (format.toLowerCase() !== "json") throw new Failure("format_not_supported", "Only JSON; omit `format`, or set it to `json`");
    const { origin } = new URL(c.req.url);
    const embed = await findEmbeddablePanel(c.get("ctx"), panelAt(url, origin));
    c.header("Cache-Control", "public, max-age=300");
    return c.json(toOEmbed(origin, embed, bounds), 200);
  },
);

panelEmbeds.openapi(
  operation({
    ...common,
    operationId: "getPanelEmbed",
    path: "/panel/v3/embed/{siteId}/{channelId}/{panelId}",
    summary: "Get a panel's embed page",
    description:
      "A page that shows one panel of a channel to anonymous viewers, for an `iframe` on any page. It links to its oEmbed response. A panel that not everybody may see is a 404.",
    request: { params: EmbedParams },
    responses: { 200: { description: "The page", content: { "text/html": { schema: { type: "string" } } } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { origin } = new URL(c.req.url);
    const embed = await findEmbeddablePanel(c.get("ctx"), c.req.valid("param"));
    return c.body(embedPage(origin, embed), 200, await embedHeaders(origin));
  },
);
