import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from "#worker/services/sites/api-keys.ts";
import { ApiKey, ApiKeyInput, ApiKeyWithSecret, toApiKey } from "#worker/services/sites/api-key-schemas.ts";

// Keys are made by people: a key can't make or renew keys.
export const apiKeys = createArea();
const tag = "Sites";

apiKeys.openapi(
  operation({
    operationId: "listApiKeys",
    tag,
    method: "get",
    path: "/site/v1/api-keys",
    summary: "List API keys",
    description: "The site's developer keys, the newest first, expired ones among them. The keys themselves are never shown again.",
    access: { credentials: ACCOUNT },
    request: { query: listQuery(["created", "name"], {}) },
    responses: { 200: json("A page of keys", listOf(ApiKey).openapi("ApiKeyList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listApiKeys(c.var.ctx, query), toApiKey), 200);
  },
);

apiKeys.openapi(
  operation({
    operationId: "createApiKey",
    tag,
    method: "post",
    path: "/site/v1/api-keys",
    summary: "Create an API key",
    description: "Makes a developer key, limited to its roles and, if you say so, in time. The key is shown this once.",
    access: { credentials: ACCOUNT },
    retries: { replay: "none" },
    request: { body: jsonBody(ApiKeyInput) },
    responses: { 201: json("The key", ApiKeyWithSecret) },
  }),
  async (c) => {
    const { row, key } = await createApiKey(c.var.ctx, c.req.valid("json"));
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
      "Gives the key a new secret, shown this once. The secret before it goes on working for 24 hours, one older than that ends now.",
    access: { credentials: ACCOUNT },
    retries: { replay: "none" },
    request: { params: IdParam },
    responses: { 200: json("The key with its new secret", ApiKeyWithSecret) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const { row, key } = await rotateApiKey(c.var.ctx, c.req.valid("param").id);
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
    description: "Ends the key at once, and with it the secret before its last rotation.",
    access: { credentials: ACCOUNT },
    request: { params: IdParam },
    responses: { 204: { description: "It works no more" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await revokeApiKey(c.var.ctx, c.req.valid("param").id);
    return c.body(null, 204);
  },
);
