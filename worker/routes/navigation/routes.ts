import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagPublicPart } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, Id, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  applyNavigation,
  createNavigation,
  deleteNavigation,
  getDefaultNavigation,
  getNavigation,
  listNavigations,
  type SeenNavigation,
  updateNavigation,
} from "#worker/services/navigation/navigation.ts";
import { ApplyNavigation, Navigation, NavigationFilters, NavigationInput, toNavigation } from "#worker/services/navigation/schemas.ts";

export const navigation = createArea();

const reading = { tag: "Navigation", access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" } } as const;
const writing = { tag: "Navigation", access: { credentials: DEVELOPER } } as const;
const privacy =
  "Private entries are returned to developer keys and site admins; with their own token, viewers also get those of pages whose gate they pass.";

/** What a manager reads is tagged as what is written; without private entries it is another response, and no basis for a change. */
async function tagSeen(c: Context<AppEnv>, { row, whole }: SeenNavigation): Promise<void> {
  if (whole) tagVersion(c, row);
  else await tagPublicPart(c, row, JSON.stringify(row.parents));
}

navigation.openapi(
  operation({
    ...reading,
    operationId: "listNavigations",
    method: "get",
    path: "/navigation/v1",
    summary: "List navigations",
    description: `The site's menus, the last changed first. ${privacy}`,
    request: { query: listQuery(["modified", "created", "name"], NavigationFilters) },
    responses: { 200: json("A page of navigations", listOf(Navigation).openapi("NavigationList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listNavigations(c.var.ctx, query), toNavigation), 200);
  },
);

navigation.openapi(
  operation({
    ...writing,
    operationId: "createNavigation",
    method: "post",
    path: "/navigation/v1",
    summary: "Create a navigation",
    description: "Makes a menu of channels, landing pages, folders and links elsewhere. As the default it takes the place of the old one.",
    request: { body: jsonBody(NavigationInput) },
    responses: { 201: json("The navigation", Navigation) },
    errors: ["conflict"],
  }),
  async (c) => {
    const created = await createNavigation(c.var.ctx, c.req.valid("json"));
    tagVersion(c, created);
    return c.json(toNavigation(created), 201);
  },
);

navigation.openapi(
  operation({
    ...reading,
    operationId: "getDefaultNavigation",
    method: "get",
    path: "/navigation/v1/default/navigation",
    summary: "Get the default navigation",
    description: `The menu of every page to which no other was applied; 404 while the site has none. ${privacy}`,
    request: {},
    responses: { 200: json("The navigation", Navigation) },
    errors: ["not_found"],
  }),
  async (c) => {
    const found = await getDefaultNavigation(c.var.ctx);
    await tagSeen(c, found);
    return c.json(toNavigation(found.row), 200);
  },
);

navigation.openapi(
  operation({
    ...writing,
    operationId: "applyNavigation",
    method: "post",
    path: "/navigation/v1/apply/{navigationId}",
    summary: "Apply a navigation to a page",
    description: "The page shows this menu from now on: its `data.navigation` names it. A channel's viewers receive `page.updated`.",
    request: { params: z.object({ navigationId: Id }), body: jsonBody(ApplyNavigation) },
    responses: { 204: { description: "It is applied" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await applyNavigation(c.var.ctx, c.req.valid("param").navigationId, c.req.valid("json").pageId);
    return c.body(null, 204);
  },
);

navigation.openapi(
  operation({
    ...reading,
    operationId: "getNavigation",
    method: "get",
    path: "/navigation/v1/{id}",
    summary: "Get a navigation",
    description: `One menu. ${privacy}`,
    request: { params: IdParam },
    responses: { 200: json("The navigation", Navigation) },
    errors: ["not_found"],
  }),
  async (c) => {
    const found = await getNavigation(c.var.ctx, c.req.valid("param").id);
    await tagSeen(c, found);
    return c.json(toNavigation(found.row), 200);
  },
);

navigation.openapi(
  operation({
    ...writing,
    operationId: "updateNavigation",
    method: "put",
    path: "/navigation/v1/{id}",
    summary: "Change a navigation",
    description:
      "Replaces the menu. As the default it takes the place of the old one, which becomes a custom one. To remove private entries, send the ETag of a response that had them in `If-Match`; without it, a body that leaves them out is rejected with 409.",
    request: { params: IdParam, body: jsonBody(NavigationInput) },
    responses: { 200: json("The navigation as it is now", Navigation) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const changed = await updateNavigation(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, changed);
    return c.json(toNavigation(changed), 200);
  },
);

navigation.openapi(
  operation({
    ...writing,
    operationId: "deleteNavigation",
    method: "delete",
    path: "/navigation/v1/{id}",
    summary: "Delete a navigation",
    description: "Deletes the menu. Pages to which it was applied show the default again.",
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteNavigation(c.var.ctx, c.req.valid("param").id)), 200),
);
