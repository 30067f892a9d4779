import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { createPanel, deletePanel, getPanel, listPanels, patchPanel, replacePanel } from "#worker/services/panels/panels.ts";
import { Panel, PanelInput, PanelPatch, PanelQuery, toPanel } from "#worker/services/panels/schemas.ts";

export const panels = createArea();

const common = { tag: "Panels", access: { credentials: ACCOUNT, errors: { globalAccount: "site_login_required" } } } as const;

panels.openapi(
  operation({
    ...common,
    operationId: "listPanels",
    method: "get",
    path: "/panel/v3",
    summary: "List panels",
    description:
      "The site's panels, the last changed first, narrowed by `?property=value`. Who doesn't manage the site gets chats without the words that they filter.",
    access: { ...common.access, accounts: "any" },
    request: { query: PanelQuery },
    responses: { 200: json("A page of panels", listOf(Panel).openapi("PanelList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listPanels(c.var.ctx, query), toPanel), 200);
  },
);

panels.openapi(
  operation({
    ...common,
    operationId: "createPanel",
    method: "post",
    path: "/panel/v3",
    summary: "Create a panel",
    description:
      "Makes a panel of one of the types of `panel_type`, each with fields of its own. It is shown where a page or a template names it.",
    request: { body: jsonBody(PanelInput) },
    responses: { 201: json("The panel", Panel) },
  }),
  async (c) => {
    const panel = await createPanel(c.var.ctx, c.req.valid("json"));
    tagVersion(c, panel);
    return c.json(toPanel(panel), 201);
  },
);

panels.openapi(
  operation({
    ...common,
    operationId: "getPanel",
    method: "get",
    path: "/panel/v3/{id}",
    summary: "Get a panel",
    description: "One panel with its renderer. Who doesn't manage the site gets a chat without the words that it filters.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The panel", Panel) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { row, whole } = await getPanel(c.var.ctx, c.req.valid("param").id);
    if (whole) tagVersion(c, row);
    else await tagVersionOf(c, row, "for viewers");
    return c.json(toPanel(row), 200);
  },
);

panels.openapi(
  operation({
    ...common,
    operationId: "replacePanel",
    method: "put",
    path: "/panel/v3/{id}",
    summary: "Replace a panel",
    description: "Gives the panel another renderer, of any type. Its slug stays.",
    request: { params: IdParam, body: jsonBody(PanelInput) },
    responses: { 200: json("The panel as it is now", Panel) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const panel = await replacePanel(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, panel);
    return c.json(toPanel(panel), 200);
  },
);

panels.openapi(
  operation({
    ...common,
    operationId: "patchPanel",
    method: "patch",
    path: "/panel/v3/{id}",
    summary: "Change a panel",
    description:
      "Merges the fields given into the renderer, one level deep: a list or an object takes the place of the old one. What comes of it must be a valid renderer of its type.",
    request: { params: IdParam, body: jsonBody(PanelPatch) },
    responses: { 200: json("The panel as it is now", Panel) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const panel = await patchPanel(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, panel);
    return c.json(toPanel(panel), 200);
  },
);

panels.openapi(
  operation({
    ...common,
    operationId: "deletePanel",
    method: "delete",
    path: "/panel/v3/{id}",
    summary: "Delete a panel",
    description: "Deletes the panel. Pages that name it show one panel less.",
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deletePanel(c.var.ctx, c.req.valid("param").id)), 200),
);
