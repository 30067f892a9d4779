import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  archiveChannelTemplate,
  createChannelTemplate,
  getChannelTemplate,
  listChannelTemplates,
  updateChannelTemplate,
} from "#worker/services/pages/channel-templates.ts";
import {
  ChannelTemplate,
  ChannelTemplateInput,
  ChannelTemplateList,
  TemplateParam,
  TemplateQuery,
  toChannelTemplate,
} from "#worker/services/pages/template-schemas.ts";

export const channelTemplates = createArea();

const common = { tag: "Pages", access: { credentials: DEVELOPER_OR_ACCOUNT } } as const;

channelTemplates.openapi(
  operation({
    ...common,
    operationId: "listChannelTemplates",
    method: "get",
    path: "/page/v2/template",
    summary: "List channel templates",
    description: "The site's channel templates, most recently modified first: active ones or, with `archived=true`, archived ones.",
    request: { query: TemplateQuery },
    responses: { 200: json("A page of channel templates", ChannelTemplateList) },
  }),
  async (c) => {
    const { sort: sortBy, direction: sortDirection, ...slice } = c.req.valid("query");
    const page = await listChannelTemplates(c.get("ctx"), { ...slice, sortBy, sortDirection });
    return c.json({ templates: page.rows.map((row) => toChannelTemplate(row)), totalCount: page.totalCount }, 200);
  },
);

channelTemplates.openapi(
  operation({
    ...common,
    operationId: "createChannelTemplate",
    method: "post",
    path: "/page/v2/template",
    summary: "Create a channel template",
    description: "Creates a template. A page created with its `templateId` gets copies of its panels and rules, and its theme.",
    request: { body: jsonBody(ChannelTemplateInput) },
    responses: { 201: json("The template", ChannelTemplate) },
    errors: ["conflict"],
  }),
  async (c) => {
    const template = await createChannelTemplate(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, template);
    return c.json(toChannelTemplate(template), 201);
  },
);

channelTemplates.openapi(
  operation({
    ...common,
    operationId: "getChannelTemplate",
    method: "get",
    path: "/page/v2/template/{templateId}",
    summary: "Get a channel template",
    description: "Returns one channel template, archived or not.",
    request: { params: TemplateParam },
    responses: { 200: json("The template", ChannelTemplate) },
    errors: ["not_found"],
  }),
  async (c) => {
    const template = await getChannelTemplate(c.get("ctx"), c.req.valid("param").templateId);
    tagVersion(c, template);
    return c.json(toChannelTemplate(template), 200);
  },
);

channelTemplates.openapi(
  operation({
    ...common,
    operationId: "updateChannelTemplate",
    method: "put",
    path: "/page/v2/template/{templateId}",
    summary: "Update a channel template",
    description: "Replaces the template; `archived: false` restores an archived one. Channels created from it don't change.",
    request: { params: TemplateParam, body: jsonBody(ChannelTemplateInput) },
    responses: { 200: json("The updated template", ChannelTemplate) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const template = await updateChannelTemplate(c.get("ctx"), c.req.valid("param").templateId, c.req.valid("json"));
    tagVersion(c, template);
    return c.json(toChannelTemplate(template), 200);
  },
);

channelTemplates.openapi(
  operation({
    ...common,
    operationId: "archiveChannelTemplate",
    method: "delete",
    path: "/page/v2/template/{templateId}",
    summary: "Archive a channel template",
    description:
      "Archives the template: it is no longer listed, and no channel can be created from it until a `PUT` with `archived: false` restores it. Returns `false` if it was already archived.",
    request: { params: TemplateParam },
    responses: { 200: json("Whether this request archived it", z.boolean()) },
    errors: ["not_found", "precondition_failed"],
  }),
  async (c) => c.json(await archiveChannelTemplate(c.get("ctx"), c.req.valid("param").templateId), 200),
);
