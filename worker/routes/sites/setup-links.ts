import { createArea } from "#worker/http/area.ts";
import { ANYONE, SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { toAccount } from "#worker/services/accounts/schemas.ts";
import { toPublicSite } from "#worker/services/sites/schemas.ts";
import { createSetupLink, setUpSite } from "#worker/services/sites/setup-links.ts";
import { CreateSetupLink, NewSite, SetupLink, SetUpSite } from "#worker/services/sites/setup-schemas.ts";

export const setupSites = createArea();

const tag = "Sites";

setupSites.openapi(
  operation({
    operationId: "createSetupLink",
    tag,
    method: "post",
    path: "/site/v1/setup-link",
    summary: "Create a setup link",
    description:
      "Returns a link with which somebody creates one site and its first admin in Studio, without the super key. It works once and expires. A deployment has one open link at a time: a new one replaces it, which also revokes it.",
    access: { credentials: SUPER },
    retries: { replay: "none" },
    request: { body: jsonBody(CreateSetupLink) },
    responses: { 201: json("The link", SetupLink) },
  }),
  async (c) => {
    const { setupToken, expires } = await createSetupLink(c.get("ctx"), c.req.valid("json"));
    return c.json({ url: `${new URL(c.req.url).origin}/studio/setup#${setupToken}`, setupToken, expires }, 201);
  },
);

setupSites.openapi(
  operation({
    operationId: "setUpSite",
    tag,
    method: "post",
    path: "/site/v1/setup",
    summary: "Set up a site",
    description:
      "Creates a site and its first admin with the token of a [setup link](/docs/api-reference/createSetupLink), which then no longer works. If the slug is taken, the link stays valid. Developer keys are created by the admin.",
    access: { credentials: ANYONE },
    retries: { keyOwner: "body" },
    request: { body: jsonBody(SetUpSite) },
    responses: { 201: json("The site and its admin", NewSite) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { site, admin } = await setUpSite(c.get("ctx"), c.req.valid("json"));
    return c.json({ site: toPublicSite(site), admin: toAccount(admin) }, 201);
  },
);
