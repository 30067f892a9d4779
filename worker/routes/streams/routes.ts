import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { searchGames } from "#worker/services/streams/games.ts";
import { deleteStream, startStream, stopStream } from "#worker/services/streams/control.ts";
import { createStream, getStream, listStreams } from "#worker/services/streams/streams.ts";
import { ForceQuery, GameList, GameQuery, Stream, StreamFilters, StreamInput, toStream } from "#worker/services/streams/schemas.ts";
import type { StreamRow } from "#db/schema/streams/streams.ts";

export const streams = createArea();

const tag = "Streams";

/** The ETag differs with and without the stream key. */
async function tagStream(c: Context<AppEnv>, row: StreamRow, streamKey: string | null): Promise<void> {
  if (streamKey === null) await tagVersionOf(c, row, "without its key");
  else tagVersion(c, row);
}

streams.openapi(
  operation({
    tag,
    operationId: "listStreams",
    method: "get",
    path: "/stream/v1",
    summary: "List streams",
    description: "The site's streams, newest first, without their keys. Creators get those of their channels.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { query: listQuery(["created", "title"], StreamFilters) },
    responses: { 200: json("A page of streams", listOf(Stream).openapi("StreamList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(
      listResponse(c.req.url, query, await listStreams(c.get("ctx"), query), (row) => toStream(row)),
      200,
    );
  },
);

streams.openapi(
  operation({
    tag,
    operationId: "createStream",
    method: "post",
    path: "/stream/v1",
    summary: "Create a stream",
    description:
      "Creates a stream at the provider and returns where the encoder sends the video and which URL players load. If the provider fails, no stream is created, here or there.",
    access: { credentials: ACCOUNT, accounts: "creator" },
    retries: { replay: "none" },
    request: { body: jsonBody(StreamInput) },
    responses: { 201: json("The stream, with its key", Stream) },
    errors: ["stream_provider_failed", "conflict"],
  }),
  async (c) => {
    const { row, streamKey } = await createStream(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, row);
    return c.json(toStream(row, streamKey), 201);
  },
);

streams.openapi(
  operation({
    operationId: "searchGames",
    tag,
    method: "get",
    path: "/stream/v1/content/games",
    summary: "Search for a game",
    description: "Searches the games database IGDB by name, for tagging a stream. Requires the deployment's own credentials for IGDB.",
    access: { credentials: CLIENT },
    limit: { name: "searchGames" },
    request: { query: GameQuery },
    responses: { 200: json("A page of games, best match first", GameList) },
    errors: ["games_not_configured", "unavailable"],
  }),
  async (c) => {
    const { gameName, limit, offset } = c.req.valid("query");
    const { games, total } = await searchGames(c.get("ctx"), { gameName, limit, offset });
    return c.json({ results: games, pagination: { limit, offset, pageResults: games.length, totalCount: total } }, 200);
  },
);

streams.openapi(
  operation({
    tag,
    operationId: "startStream",
    method: "post",
    path: "/stream/v1/start/{id}",
    summary: "Start a stream",
    description:
      "Starts the stream at its provider and notifies its channel's viewers. A stream that is already live is a 409. A failure leaves it unchanged; start and stop are safe to retry.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("The stream, live", Stream) },
    errors: ["not_found", "stream_provider_failed", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const stream = await startStream(c.get("ctx"), c.req.valid("param").id);
    await tagStream(c, stream, null);
    return c.json(toStream(stream), 200);
  },
);

streams.openapi(
  operation({
    tag,
    operationId: "stopStream",
    method: "post",
    path: "/stream/v1/stop/{id}",
    summary: "Stop a stream",
    description:
      "Stops the stream at its provider and notifies its channel's viewers; the event has the input for adding its recording as a video. The provider is called even if the stream isn't live, in case an earlier start failed here but succeeded there. If it fails, the stream stays as it is; `force` stops it here all the same.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam, query: ForceQuery },
    responses: { 200: json("The stream, offline", Stream) },
    errors: ["not_found", "stream_provider_failed", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const stream = await stopStream(c.get("ctx"), c.req.valid("param").id, c.req.valid("query").force);
    await tagStream(c, stream, null);
    return c.json(toStream(stream), 200);
  },
);

streams.openapi(
  operation({
    tag,
    operationId: "getStream",
    method: "get",
    path: "/stream/v1/{id}",
    summary: "Get a stream",
    description: "One stream, with its key for callers who may change it.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("The stream", Stream) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { row, streamKey } = await getStream(c.get("ctx"), c.req.valid("param").id);
    await tagStream(c, row, streamKey);
    return c.json(toStream(row, streamKey), 200);
  },
);

streams.openapi(
  operation({
    tag,
    operationId: "deleteStream",
    method: "delete",
    path: "/stream/v1/{id}",
    summary: "Delete a stream",
    description:
      "Deletes the stream at its provider, then here. Stop a live stream first. If the provider fails, the stream stays; `force` deletes it here all the same.",
    access: { credentials: ACCOUNT, accounts: "creator" },
    request: { params: IdParam, query: ForceQuery },
    responses: { 200: json("The stream is deleted", Deleted) },
    errors: ["not_found", "stream_provider_failed", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteStream(c.get("ctx"), c.req.valid("param").id, c.req.valid("query").force)), 200),
);
