import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ANYONE, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { listOf, listQuery, listResponse } from "#worker/services/core/list-schemas.ts";
import { createOutput, listOutputs, revokeOutput } from "#worker/services/outputs/outputs.ts";
import { OUTPUT_HEADERS, outputDocument } from "#worker/services/outputs/page.ts";
import {
  ChannelParam,
  Output,
  OutputInput,
  OutputPageQuery,
  OutputParams,
  OutputWithToken,
  toOutput,
} from "#worker/services/outputs/schemas.ts";
import { siteOfOutput } from "#worker/services/outputs/tokens.ts";

export const outputs = createArea();
const common = { tag: "Outputs", access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" } } as const;

outputs.openapi(
  operation({
    ...common,
    operationId: "listOutputs",
    method: "get",
    path: "/overlay/v1/channels/{channelId}/outputs",
    summary: "List a channel's outputs",
    description:
      "The links to the channel's [output page](/guides/mixers), newest first, including expired ones. Tokens are never shown again.",
    request: { params: ChannelParam, query: listQuery(["created"], {}) },
    responses: { 200: json("A page of outputs", listOf(Output).openapi("OutputList")) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listOutputs(c.get("ctx"), c.req.valid("param").channelId, query);
    return c.json(listResponse(c.req.url, query, page, toOutput), 200);
  },
);

outputs.openapi(
  operation({
    ...common,
    operationId: "createOutput",
    method: "post",
    path: "/overlay/v1/channels/{channelId}/outputs",
    summary: "Create an output",
    description:
      "Creates a link to the channel's [output page](/guides/mixers), for OBS, vMix and other mixers. The token in it only receives what the channel shows to everybody, behind any gate; it can't vote, write or read anything else. It is shown only once, and works until it expires or is revoked, also after its creator has left.",
    retries: { replay: "none" },
    request: { params: ChannelParam, body: jsonBody(OutputInput) },
    responses: { 201: json("The output, with its token", OutputWithToken) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { channelId } = c.req.valid("param");
    const { row, token } = await createOutput(c.get("ctx"), channelId, c.req.valid("json"));
    const url = new URL(`/output/${channelId}`, c.req.url);
    url.searchParams.set("token", token);
    tagVersion(c, row);
    return c.json({ ...toOutput(row), token, url: url.href }, 201);
  },
);

outputs.openapi(
  operation({
    ...common,
    operationId: "revokeOutput",
    method: "delete",
    path: "/overlay/v1/channels/{channelId}/outputs/{id}",
    summary: "Revoke an output",
    description: "Revokes the token immediately and closes the connections that use it: the mixer shows nothing from then on.",
    request: { params: OutputParams },
    responses: { 204: { description: "The output is revoked" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const { channelId, id } = c.req.valid("param");
    await revokeOutput(c.get("ctx"), channelId, id);
    return c.body(null, 204);
  },
);

outputs.openapi(
  operation({
    operationId: "openOutput",
    tag: common.tag,
    method: "get",
    path: "/output/{channelId}",
    summary: "Open the output page",
    description:
      "A transparent page with the channel's overlays, for a mixer's browser source: without close buttons or pointer, and reconnecting forever. Errors are JSON, except for browsers, which get an empty page with the same status that tries again every 30 seconds.",
    access: { credentials: ANYONE },
    request: { params: ChannelParam, query: OutputPageQuery },
    responses: { 200: { description: "The page", content: { "text/html": { schema: { type: "string" } } } } },
    errors: ["unauthenticated", "not_found"],
  }),
  async (c) => {
    const { channelId } = c.req.valid("param");
    const siteId = await siteOfOutput(c.env, channelId, c.req.valid("query").token, Date.now());
    return c.body(outputDocument(siteId, channelId), 200, OUTPUT_HEADERS);
  },
);
