import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { ACCOUNT, CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { searchGames } from "#worker/services/streams/games.ts";
import { deleteStream, startStream, stopStream } from "#worker/services/streams/control.ts";
import { createStream, getStream, listStreams } from "#worker/services/streams/streams.ts";
import { GameList, GameQuery, Stream, StreamFilters, StreamInput, toStream } from "#worker/services/streams/schemas.ts";
import type { StreamRow } from "#db/schema/index.ts";

export const streams = createArea();

const tag = "Streams";

/** Without its key a stream is another answer than with it. */
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
    description: "The site's streams, the newest first, without their keys.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { query: listQuery(["created", "title"], StreamFilters) },
    responses: { 200: json("A page of streams", listOf(Stream).openapi("StreamList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(
      listAnswer(c.req.url, query, await listStreams(c.var.ctx, query), (row) => toStream(row)),
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
      "Has the provider make a stream, and answers where the encoder sends the picture and what players load. When the provider fails, there is no stream, here or there.",
    access: { credentials: ACCOUNT, accounts: "creator" },
    retries: { replay: "none" },
    request: { body: jsonBody(StreamInput) },
    responses: { 201: json("The stream, with its key", Stream) },
    errors: ["stream_provider_failed", "conflict"],
  }),
  async (c) => {
    const { row, streamKey } = await createStream(c.var.ctx, c.req.valid("json"));
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
    description: "Games by name, from the games database IGDB, to tag a stream with. Needs the deployment's own credentials for IGDB.",
    access: { credentials: CLIENT },
    limit: { name: "searchGames" },
    request: { query: GameQuery },
    responses: { 200: json("A page of games, the best match first", GameList) },
    errors: ["games_not_configured", "unavailable"],
  }),
  async (c) => {
    const { gameName, limit, offset } = c.req.valid("query");
    const { games, total } = await searchGames(c.var.ctx, { gameName, limit, offset });
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
      "Has the provider put the stream on the air; its channel's viewers are told. A stream that is live is a 409. After a failure it is as it was, and both start and stop are safe to call again.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("The stream, live", Stream) },
    errors: ["not_found", "stream_provider_failed", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const stream = await startStream(c.var.ctx, c.req.valid("param").id);
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
      "Has the provider take the stream off the air; its channel's viewers are told, and the event offers its recording as a video. Of a stream that isn't live, the provider is told all the same, in case a start that failed here got through there.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("The stream, off the air", Stream) },
    errors: ["not_found", "stream_provider_failed", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const stream = await stopStream(c.var.ctx, c.req.valid("param").id);
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
    description: "One stream; with its key for those who may change it.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("The stream", Stream) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { row, streamKey } = await getStream(c.var.ctx, c.req.valid("param").id);
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
    description: "Has the provider delete the stream, then forgets it. One that is live must be stopped first.",
    access: { credentials: ACCOUNT, accounts: "creator" },
    request: { params: IdParam },
    responses: { 200: json("It is gone", Deleted) },
    errors: ["not_found", "stream_provider_failed", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteStream(c.var.ctx, c.req.valid("param").id)), 200),
);
