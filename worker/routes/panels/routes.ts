import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { connectionAttributes } from "#worker/http/language.ts";
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
      "The site's panels, most recently modified first, filtered by `?property=value`. Viewers don't receive panels for segments that they aren't in. Only managers of the site receive the filtered words of chats, and which segment a panel is for.",
    access: { ...common.access, accounts: "any" },
    request: { query: PanelQuery },
    responses: { 200: json("A page of panels", listOf(Panel).openapi("PanelList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listPanels(c.get("ctx"), query, connectionAttributes(c)), toPanel), 200);
  },
);

panels.openapi(
  operation({
    ...common,
    operationId: "createPanel",
    method: "post",
    path: "/panel/v3",
    summary: "Create a panel",
    description: "Creates a panel. Each `panel_type` has its own fields. A panel is shown on the pages and templates that include it.",
    request: { body: jsonBody(PanelInput) },
    responses: { 201: json("The panel", Panel) },
  }),
  async (c) => {
    const panel = await createPanel(c.get("ctx"), c.req.valid("json"));
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
    description:
      "Returns one panel with its renderer. A panel for a segment is a 404 for viewers who aren't in it. Only managers of the site receive the filtered words of a chat, and the segment.",
    access: { ...common.access, accounts: "any" },
    request: { params: IdParam },
    responses: { 200: json("The panel", Panel) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { row, complete } = await getPanel(c.get("ctx"), c.req.valid("param").id, connectionAttributes(c));
    if (complete) tagVersion(c, row);
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
    description: "Replaces the panel's renderer, which may be of another type. The slug doesn't change.",
    request: { params: IdParam, body: jsonBody(PanelInput) },
    responses: { 200: json("The updated panel", Panel) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const panel = await replacePanel(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
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
    summary: "Update a panel",
    description:
      "Merges the given fields into the renderer, one level deep: lists and objects are replaced. The result must be a valid renderer of its type.",
    request: { params: IdParam, body: jsonBody(PanelPatch) },
    responses: { 200: json("The updated panel", Panel) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const panel = await patchPanel(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
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
    description: "Deletes the panel. Pages that include it no longer show it.",
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deletePanel(c.get("ctx"), c.req.valid("param").id)), 200),
);
