import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { addPlaybackKey, deletePlaybackKey, listPlaybackKeys } from "#worker/services/sites/playback-keys.ts";
import { PlaybackKey, PlaybackKeyInput, toPlaybackKey } from "#worker/services/sites/playback-key-schemas.ts";

export const playbackKeys = createArea();
const common = { tag: "Sites", access: { credentials: DEVELOPER_OR_ACCOUNT } } as const;

playbackKeys.openapi(
  operation({
    ...common,
    operationId: "listPlaybackKeys",
    method: "get",
    path: "/site/v1/playback-keys",
    summary: "List playback keys",
    description:
      "The keys that sign the URLs of [protected videos](/guides/protect-video), newest first. The keys themselves are never shown.",
    request: { query: listQuery(["created"], {}) },
    responses: { 200: json("A page of playback keys", listOf(PlaybackKey).openapi("PlaybackKeyList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listPlaybackKeys(c.get("ctx"), query), toPlaybackKey), 200);
  },
);

playbackKeys.openapi(
  operation({
    ...common,
    operationId: "addPlaybackKey",
    method: "post",
    path: "/site/v1/playback-keys",
    summary: "Add a playback key",
    description:
      "Stores a key that signs the URLs of [protected videos](/guides/protect-video). The newest key of each provider is used; delete the previous one once its URLs have expired.",
    request: { body: jsonBody(PlaybackKeyInput) },
    responses: { 201: json("The playback key, without the key itself", PlaybackKey) },
  }),
  async (c) => {
    const row = await addPlaybackKey(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, row);
    return c.json(toPlaybackKey(row), 201);
  },
);

playbackKeys.openapi(
  operation({
    ...common,
    operationId: "deletePlaybackKey",
    method: "delete",
    path: "/site/v1/playback-keys/{id}",
    summary: "Delete a playback key",
    description: "Deletes the key. If the provider has no other key, page content returns null for the URLs that it would have signed.",
    request: { params: IdParam },
    responses: { 204: { description: "The key is deleted" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deletePlaybackKey(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);
