import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { createPage, deletePage, getPage, listPages, updatePage } from "#worker/services/pages/pages.ts";
import { CreatePage, Page, PageFilter, PageParam, projectPage, ProjectedPage, toPage, UpdatePage } from "#worker/services/pages/schemas.ts";

export const pages = createArea();
const tag = "Pages";
const sortFields = ["_id", "created", "modified", "slug", "data.name"] as const;

pages.openapi(
  operation({
    operationId: "listPages",
    tag,
    method: "get",
    path: "/page/v2",
    summary: "List pages",
    description: "The site's channels and landing pages, filtered by ids or options.",
    access: { credentials: CLIENT },
    request: { query: listQuery(sortFields, PageFilter) },
    responses: { 200: json("A page of pages", listOf(ProjectedPage).openapi("ProjectedPageList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listPages(c.get("ctx"), query);
    return c.json(
      listResponse(c.req.url, query, page, (row) => projectPage(row, query.options?.projection)),
      200,
    );
  },
);

pages.openapi(
  operation({
    operationId: "createPage",
    tag,
    method: "post",
    path: "/page/v2",
    summary: "Create a page",
    description: "Creates a channel or a landing page, optionally from a template. The slug must be unique on the site.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(CreatePage) },
    responses: { 201: json("The page", Page) },
    errors: ["conflict"],
  }),
  async (c) => {
    const page = await createPage(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, page);
    return c.json(toPage(page), 201);
  },
);

const PageList = listOf(Page).openapi("PageList");
const lists = [
  {
    operationId: "listChannels",
    path: "/page/v2/channel",
    types: ["channel"],
    summary: "List channels",
    description: "The site's channels.",
  },
  {
    operationId: "listChannelsAndLandings",
    path: "/page/v2/channel/channels-landings",
    types: ["channel", "landing"],
    summary: "List channels and landing pages",
    description: "The site's channels and landing pages.",
  },
  {
    operationId: "listLandings",
    path: "/page/v2/landing",
    types: ["landing"],
    summary: "List landing pages",
    description: "The site's landing pages.",
  },
] as const;

for (const { types, ...list } of lists) {
  pages.openapi(
    operation({
      ...list,
      tag,
      method: "get",
      access: { credentials: CLIENT },
      request: { query: listQuery(sortFields, {}) },
      responses: { 200: json("A page of pages", PageList) },
    }),
    async (c) => {
      const query = c.req.valid("query");
      return c.json(listResponse(c.req.url, query, await listPages(c.get("ctx"), query, types), toPage), 200);
    },
  );
}

pages.openapi(
  operation({
    operationId: "getPage",
    tag,
    method: "get",
    path: "/page/v2/{id}",
    summary: "Get a page",
    description: "Returns one channel or landing page.",
    access: { credentials: CLIENT },
    request: { params: PageParam },
    responses: { 200: json("The page", Page) },
    errors: ["not_found"],
  }),
  async (c) => {
    const page = await getPage(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, page);
    return c.json(toPage(page), 200);
  },
);

pages.openapi(
  operation({
    operationId: "updatePage",
    tag,
    method: "put",
    path: "/page/v2/{id}",
    summary: "Update a page",
    description:
      "Replaces the page; its type can't change. A channel's viewers receive `page.updated`. Creators can update the channels that their role lists.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: PageParam, body: jsonBody(UpdatePage) },
    responses: { 200: json("The updated page", Page) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const page = await updatePage(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, page);
    return c.json(toPage(page), 200);
  },
);

pages.openapi(
  operation({
    operationId: "deletePage",
    tag,
    method: "delete",
    path: "/page/v2/{id}",
    summary: "Delete a page",
    description:
      "Deletes the page. For a channel, active broadcasts are cleared, viewers are disconnected, automation rules are deleted, broadcasts scheduled on it are cancelled, and calendar events and streams stay with the site. While one of its streams is live, the response is a 409. Menu entries that link to the page stay until you remove them.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: PageParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deletePage(c.get("ctx"), c.req.valid("param").id)), 200),
);
