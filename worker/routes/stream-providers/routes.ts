import { createArea } from "#worker/http/area.ts";
import { DEVELOPER, DEVELOPER_OR_PROVIDER } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  ASSERTION_ERROR,
  listStreamProviders,
  registerStreamProvider,
  removeStreamProvider,
} from "#worker/services/stream-providers/stream-providers.ts";
import {
  ChangedProvider,
  RegisteredProvider,
  StreamProvider,
  StreamProviderInput,
  toStreamProvider,
} from "#worker/services/stream-providers/schemas.ts";

export const streamProviders = createArea();
const tag = "Stream providers";

streamProviders.openapi(
  operation({
    operationId: "listStreamProviders",
    tag,
    method: "get",
    path: "/streamprovider/v1",
    summary: "List stream providers",
    description: "The site's stream providers, newest first. Their authorizations are never shown again.",
    access: { credentials: DEVELOPER },
    request: { query: listQuery(["created", "name"], {}) },
    responses: { 200: json("A page of providers", listOf(StreamProvider).openapi("StreamProviderList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listStreamProviders(c.get("ctx"), query), toStreamProvider), 200);
  },
);

streamProviders.openapi(
  operation({
    operationId: "registerStreamProvider",
    tag,
    method: "post",
    path: "/streamprovider/v1/register",
    summary: "Register a stream provider",
    description:
      "Registers a system that runs streams, with the four URLs that Tifo calls (https, no private addresses). The first registration requires a developer key and returns the authorization, a UUID. With that as its bearer token, the provider can change its own registration.",
    access: { credentials: DEVELOPER_OR_PROVIDER },
    retries: { replay: "none" },
    input: { invalidMessage: ASSERTION_ERROR },
    request: { body: jsonBody(StreamProviderInput) },
    responses: { 200: json("Changed", ChangedProvider), 201: json("Registered", RegisteredProvider) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const { id, authorization } = await registerStreamProvider(c.get("ctx"), c.req.valid("json"));
    return authorization === undefined ? c.json({ id }, 200) : c.json({ id, authorization }, 201);
  },
);

streamProviders.openapi(
  operation({
    operationId: "removeStreamProvider",
    tag,
    method: "delete",
    path: "/streamprovider/v1/{id}",
    summary: "Remove a stream provider",
    description: "Removes a provider that no stream uses, and invalidates its authorization.",
    access: { credentials: DEVELOPER },
    request: { params: IdParam },
    responses: { 200: json("The provider is removed", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await removeStreamProvider(c.get("ctx"), c.req.valid("param").id)), 200),
);
