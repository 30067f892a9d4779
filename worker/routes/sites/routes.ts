import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagPublicPart, tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT, SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { createSite, getSiteWithTheme, replaceFeatures, updateSite } from "#worker/services/sites/sites.ts";
import { toAccount } from "#worker/services/accounts/schemas.ts";
import {
  CreatedSite,
  CreateSite,
  Site,
  SiteAsRead,
  SiteFeatures,
  toPublicSite,
  toSite,
  UpdateSite,
} from "#worker/services/sites/schemas.ts";

export const sites = createArea();
const tag = "Sites";

sites.openapi(
  operation({
    operationId: "getSite",
    tag,
    method: "get",
    path: "/site/v1",
    summary: "Get the site",
    description:
      "The public part of the client id's site: what a viewer's page needs. With a developer key or a site admin's token, the response also has the rest: security settings, the service charge rate, the [admin theme](/docs/api-reference/applyAdminTheme) of the back office and so on. Read the site with one of them before you replace it.",
    access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "signedIn" },
    request: {},
    responses: { 200: json("The site", SiteAsRead) },
  }),
  async (c) => {
    const { site, adminTheme, manages } = await getSiteWithTheme(c.get("ctx"));
    if (manages) await tagVersionOf(c, site, adminTheme ?? "");
    else await tagPublicPart(c, site);
    return c.json(manages ? { ...toSite(site), adminTheme } : toPublicSite(site), 200);
  },
);

sites.openapi(
  operation({
    operationId: "updateSite",
    tag,
    method: "put",
    path: "/site/v1",
    summary: "Change the site",
    description:
      "Replaces the site's own settings: omitted fields are reset to their defaults, except for the slug. Only the operator can change features.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(UpdateSite) },
    responses: { 200: json("The site as it is now", Site) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const site = await updateSite(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, site);
    return c.json(toSite(site), 200);
  },
);

sites.openapi(
  operation({
    operationId: "createSite",
    tag,
    method: "post",
    path: "/site/v1",
    summary: "Create a site",
    description: "Creates a site with its first admin and its first developer key. The key is shown only once.",
    access: { credentials: SUPER },
    retries: { replay: "none" },
    request: { body: jsonBody(CreateSite) },
    responses: { 201: json("The site, its admin and its key", CreatedSite) },
    errors: ["conflict"],
  }),
  async (c) => {
    const { site, admin, developerKey } = await createSite(c.get("ctx"), c.req.valid("json"));
    return c.json({ site: toSite(site), admin: toAccount(admin), developerKey }, 201);
  },
);

sites.openapi(
  operation({
    operationId: "replaceSiteFeatures",
    tag,
    method: "put",
    path: "/site/v1/features/{siteId}",
    summary: "Replace a site's features",
    description:
      "Sets the features that the site may use: omitted ones are off. Also sets the service charge rate, if given. The site can read both but change neither.",
    access: { credentials: SUPER },
    request: { params: z.object({ siteId: Id.openapi({ example: "5eed00000000000000000001" }) }), body: jsonBody(SiteFeatures) },
    responses: { 200: json("The site as it is now", Site) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const site = await replaceFeatures(c.get("ctx"), c.req.valid("param").siteId, c.req.valid("json"));
    tagVersion(c, site);
    return c.json(toSite(site), 200);
  },
);
