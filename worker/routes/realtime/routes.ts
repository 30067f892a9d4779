import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { ACCOUNT, CLIENT_HEADER_OR_QUERY, CLIENT_QUERY } from "#worker/http/credentials.ts";
import { connectionAttributes } from "#worker/http/language.ts";
import { callerNetwork } from "#worker/http/limits.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody } from "#worker/lib/schemas/common.ts";
import { wantsSocket } from "#worker/http/upgrade.ts";
import { Failure, invalid } from "#worker/lib/errors.ts";
import { createTicket, findChannel } from "#worker/services/realtime/channels.ts";
import { eventStream, parseEventId } from "#worker/services/realtime/event-stream.ts";
import { findOutputId, isOutputToken } from "#worker/services/outputs/tokens.ts";
import { connect, type Connection } from "#worker/services/realtime/realtime.ts";
import { ChannelParam, ConnectQuery, StreamQuery, Ticket, TicketInput } from "#worker/services/realtime/schemas.ts";

export const realtime = createArea();
const tag = "Realtime";

realtime.openapi(
  operation({
    operationId: "createTicket",
    tag,
    method: "post",
    path: "/realtime/v1/tickets",
    summary: "Get a ticket for a socket",
    description:
      "Returns a single-use ticket, valid for 60 seconds, that identifies the signed-in viewer in a socket's URL, where access tokens don't belong.",
    access: { credentials: ACCOUNT, accounts: "any" },
    limit: { name: "ticket", withFirstRead: true },
    retries: { replay: "none" },
    request: { body: jsonBody(TicketInput) },
    responses: { 201: json("The ticket", Ticket) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await createTicket(c.get("ctx"), c.req.valid("json").channelId), 201),
);

realtime.openapi(
  operation({
    operationId: "connectToChannel",
    tag,
    method: "get",
    path: "/realtime/v1/channels/{channelId}",
    summary: "Open a channel's WebSocket",
    description:
      "Upgrades to a WebSocket. The first frame is `welcome`; with `epoch` and `seq` it is followed by exactly the frames that were missed. Every upgrade is accepted; a rejected one receives an `error` frame and is closed with 4400, 4401, 4403, 4404 or 4429, because browsers can't read the HTTP status.",
    access: { credentials: CLIENT_QUERY, readsPrimary: true },
    request: { params: ChannelParam, query: ConnectQuery },
    responses: { 101: { description: "Switching protocols" } },
    errors: ["upgrade_required"],
  }),
  async (c) => {
    if (!wantsSocket(c)) {
      throw new Failure("upgrade_required", "Connect with a WebSocket, or read …/events", { headers: { Upgrade: "websocket" } });
    }
    const ctx = c.get("ctx");
    await ctx.caller();
    const { channelId } = c.req.valid("param");
    return connect(c.env, connectionOf(c, channelId, c.req.valid("query")), () => findChannel(ctx, channelId));
  },
);

realtime.openapi(
  operation({
    operationId: "streamChannel",
    tag,
    method: "get",
    path: "/realtime/v1/channels/{channelId}/events",
    summary: "Read a channel as Server-Sent Events",
    description:
      "The same frames, for clients without WebSocket. Each event's id is its position; browsers send it back as Last-Event-ID, so nothing is missed.",
    access: { credentials: CLIENT_HEADER_OR_QUERY, readsPrimary: true },
    request: { params: ChannelParam, query: StreamQuery },
    responses: { 200: { description: "The stream", content: { "text/event-stream": { schema: { type: "string" } } } } },
  }),
  async (c) => {
    if (wantsSocket(c)) throw invalid("Upgrade", "Server-Sent Events don't use an upgrade");
    const ctx = c.get("ctx");
    await ctx.caller();
    const { channelId } = c.req.valid("param");
    const connection = connectionOf(c, channelId, c.req.valid("query"));
    const position = parseEventId(c.req.header("Last-Event-ID"));
    const { chat: joins, chatAfter: after, chatRevision: revision } = c.req.valid("query");
    const resumed = after === undefined || revision === undefined ? {} : { after, revision };
    const chat = joins ? { ...resumed, ...position?.chat } : null;
    const load = () => findChannel(ctx, channelId);
    return eventStream(c.env, { ...connection, resume: position?.resume ?? connection.resume, chat }, load, c.req.raw.signal);
  },
);

function connectionOf(c: Context<AppEnv>, channelId: string, query: z.output<typeof StreamQuery>): Connection {
  const { ticket = null, deviceId = null, epoch, seq } = query;
  const ctx = c.get("ctx");
  const findOutput = ticket !== null && isOutputToken(ticket) ? () => findOutputId(ctx, channelId, ticket) : undefined;
  const resume = epoch !== undefined && seq !== undefined ? { epoch, seq } : null;
  const { language: preferred, country } = connectionAttributes(c);
  const language = query.language ?? preferred;
  return { siteId: ctx.siteId, channelId, deviceId, network: callerNetwork(c), ticket, findOutput, language, country, resume };
}
