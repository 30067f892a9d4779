import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
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
    description: "Channels and landing pages, by ids or by options.",
    access: { credentials: CLIENT },
    request: { query: listQuery(sortFields, PageFilter) },
    responses: { 200: json("A page of pages", listOf(ProjectedPage).openapi("ProjectedPageList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listPages(c.var.ctx, query);
    return c.json(
      listAnswer(c.req.url, query, page, (row) => projectPage(row, query.options?.projection)),
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
    description: "Makes a channel or a landing page, from a template where one is named. The slug is unique on the site.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(CreatePage) },
    responses: { 201: json("The page", Page) },
    errors: ["conflict"],
  }),
  async (c) => {
    const page = await createPage(c.var.ctx, c.req.valid("json"));
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
    description: "Everything that a viewer can open, channels and landing pages alike.",
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
      return c.json(listAnswer(c.req.url, query, await listPages(c.var.ctx, query, types), toPage), 200);
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
    description: "One channel or landing page.",
    access: { credentials: CLIENT },
    request: { params: PageParam },
    responses: { 200: json("The page", Page) },
    errors: ["not_found"],
  }),
  async (c) => {
    const page = await getPage(c.var.ctx, c.req.valid("param").id);
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
    summary: "Change a page",
    description:
      "Replaces the page; its type stays. A channel's viewers receive `page.updated`. Creators change the channels that their role names.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: PageParam, body: jsonBody(UpdatePage) },
    responses: { 200: json("The page as it is now", Page) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const page = await updatePage(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
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
      "Deletes the page. What a channel had on is cleared, its viewers are disconnected, its automation rules go with it, and its calendar's events and its streams are the site's from then on. While one of its streams is live, it is a 409. Menus that lead to the page keep their entries, which lead nowhere until you take them out.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: PageParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deletePage(c.var.ctx, c.req.valid("param").id)), 200),
);
