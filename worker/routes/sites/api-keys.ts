import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from "#worker/services/sites/api-keys.ts";
import { ApiKey, ApiKeyInput, ApiKeyWithSecret, toApiKey } from "#worker/services/sites/api-key-schemas.ts";

// Only accounts manage keys: a key can't create or rotate keys.
export const apiKeys = createArea();
const tag = "Sites";

apiKeys.openapi(
  operation({
    operationId: "listApiKeys",
    tag,
    method: "get",
    path: "/site/v1/api-keys",
    summary: "List API keys",
    description: "The site's developer keys, newest first, including expired ones. The keys themselves are never shown again.",
    access: { credentials: ACCOUNT },
    request: { query: listQuery(["created", "name"], {}) },
    responses: { 200: json("A page of keys", listOf(ApiKey).openapi("ApiKeyList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listApiKeys(c.get("ctx"), query), toApiKey), 200);
  },
);

apiKeys.openapi(
  operation({
    operationId: "createApiKey",
    tag,
    method: "post",
    path: "/site/v1/api-keys",
    summary: "Create an API key",
    description: "Creates a developer key, limited to its roles and, optionally, to an expiration time. The key is shown only once.",
    access: { credentials: ACCOUNT },
    retries: { replay: "none" },
    request: { body: jsonBody(ApiKeyInput) },
    responses: { 201: json("The key", ApiKeyWithSecret) },
  }),
  async (c) => {
    const { row, key } = await createApiKey(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, row);
    return c.json({ ...toApiKey(row), key }, 201);
  },
);

apiKeys.openapi(
  operation({
    operationId: "rotateApiKey",
    tag,
    method: "post",
    path: "/site/v1/api-keys/{id}/rotate",
    summary: "Rotate an API key",
    description:
      "Gives the key a new secret, shown only once. The previous secret keeps working for 24 hours; an older one stops working now.",
    access: { credentials: ACCOUNT },
    retries: { replay: "none" },
    request: { params: IdParam },
    responses: { 200: json("The key with its new secret", ApiKeyWithSecret) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const { row, key } = await rotateApiKey(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, row);
    return c.json({ ...toApiKey(row), key }, 200);
  },
);

apiKeys.openapi(
  operation({
    operationId: "revokeApiKey",
    tag,
    method: "delete",
    path: "/site/v1/api-keys/{id}",
    summary: "Revoke an API key",
    description: "Revokes the key immediately, including its previous secret.",
    access: { credentials: ACCOUNT },
    request: { params: IdParam },
    responses: { 204: { description: "The key is revoked" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await revokeApiKey(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);
