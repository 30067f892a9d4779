import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagPublicPart } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, Id, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  applyNavigation,
  createNavigation,
  deleteNavigation,
  getDefaultNavigation,
  getNavigation,
  listNavigations,
  type VisibleNavigation,
  updateNavigation,
} from "#worker/services/navigation/navigation.ts";
import { ApplyNavigation, Navigation, NavigationFilters, NavigationInput, toNavigation } from "#worker/services/navigation/schemas.ts";

export const navigation = createArea();

const read = { tag: "Navigation", access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" } } as const;
const write = { tag: "Navigation", access: { credentials: DEVELOPER_OR_ACCOUNT } } as const;
const privacy =
  "Private entries are returned to developer keys and site admins; with their own token, viewers also get those of pages whose gate they pass.";

/** The complete navigation is tagged with its version; without private entries the response gets another ETag, not valid for updates. */
async function tagVisible(c: Context<AppEnv>, { row, complete }: VisibleNavigation): Promise<void> {
  if (complete) tagVersion(c, row);
  else await tagPublicPart(c, row, JSON.stringify(row.parents));
}

navigation.openapi(
  operation({
    ...read,
    operationId: "listNavigations",
    method: "get",
    path: "/navigation/v1",
    summary: "List navigations",
    description: `The site's menus, most recently modified first. ${privacy}`,
    request: { query: listQuery(["modified", "created", "name"], NavigationFilters) },
    responses: { 200: json("A page of navigations", listOf(Navigation).openapi("NavigationList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listNavigations(c.get("ctx"), query), toNavigation), 200);
  },
);

navigation.openapi(
  operation({
    ...write,
    operationId: "createNavigation",
    method: "post",
    path: "/navigation/v1",
    summary: "Create a navigation",
    description: "Creates a menu of channels, landing pages, folders and external links. A new default replaces the old one.",
    request: { body: jsonBody(NavigationInput) },
    responses: { 201: json("The navigation", Navigation) },
    errors: ["conflict"],
  }),
  async (c) => {
    const created = await createNavigation(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, created);
    return c.json(toNavigation(created), 201);
  },
);

navigation.openapi(
  operation({
    ...read,
    operationId: "getDefaultNavigation",
    method: "get",
    path: "/navigation/v1/default/navigation",
    summary: "Get the default navigation",
    description: `The menu of every page without a navigation of its own; 404 if the site has no default. ${privacy}`,
    request: {},
    responses: { 200: json("The navigation", Navigation) },
    errors: ["not_found"],
  }),
  async (c) => {
    const found = await getDefaultNavigation(c.get("ctx"));
    await tagVisible(c, found);
    return c.json(toNavigation(found.row), 200);
  },
);

navigation.openapi(
  operation({
    ...write,
    operationId: "applyNavigation",
    method: "post",
    path: "/navigation/v1/apply/{navigationId}",
    summary: "Apply a navigation to a page",
    description: "Makes the page show this menu by setting its `data.navigation`. A channel's viewers receive `page.updated`.",
    request: { params: z.object({ navigationId: Id }), body: jsonBody(ApplyNavigation) },
    responses: { 204: { description: "Applied" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await applyNavigation(c.get("ctx"), c.req.valid("param").navigationId, c.req.valid("json").pageId);
    return c.body(null, 204);
  },
);

navigation.openapi(
  operation({
    ...read,
    operationId: "getNavigation",
    method: "get",
    path: "/navigation/v1/{id}",
    summary: "Get a navigation",
    description: `Returns one menu. ${privacy}`,
    request: { params: IdParam },
    responses: { 200: json("The navigation", Navigation) },
    errors: ["not_found"],
  }),
  async (c) => {
    const found = await getNavigation(c.get("ctx"), c.req.valid("param").id);
    await tagVisible(c, found);
    return c.json(toNavigation(found.row), 200);
  },
);

navigation.openapi(
  operation({
    ...write,
    operationId: "updateNavigation",
    method: "put",
    path: "/navigation/v1/{id}",
    summary: "Update a navigation",
    description:
      "Replaces the menu. If it becomes the default, the old default becomes a custom one. To remove private entries, send the ETag of a response that contained them in `If-Match`; otherwise a body that leaves them out is rejected with 409.",
    request: { params: IdParam, body: jsonBody(NavigationInput) },
    responses: { 200: json("The updated navigation", Navigation) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const changed = await updateNavigation(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, changed);
    return c.json(toNavigation(changed), 200);
  },
);

navigation.openapi(
  operation({
    ...write,
    operationId: "deleteNavigation",
    method: "delete",
    path: "/navigation/v1/{id}",
    summary: "Delete a navigation",
    description: "Deletes the menu. Pages that used it show the default again.",
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteNavigation(c.get("ctx"), c.req.valid("param").id)), 200),
);
