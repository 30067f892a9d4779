import { z } from "@hono/zod-openapi";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { listOf, listResponse } from "#worker/services/core/list-schemas.ts";
import { getDataProvider } from "#worker/services/data-providers/data-providers.ts";
import { ProviderParam } from "#worker/services/data-providers/schemas.ts";
import {
  EntityQuery,
  HistoryQuery,
  KeyPlay,
  KeyPlayQuery,
  ProviderMapping,
  StatEntity,
  StatHistoryEntry,
  StatMapping,
  toHistoryEntry,
  toKeyPlay,
  toProviderMapping,
  toStatEntity,
} from "#worker/services/stats/schemas.ts";
import { getEntity, listEntities, listHistory, listKeyPlays, setMapping } from "#worker/services/stats/stats.ts";

export const stats = createArea();

const tag = "Stats";
const read = { tag, method: "get", access: { credentials: CLIENT, optional: DEVELOPER_OR_ACCOUNT, accounts: "any" } } as const;
const manage = { tag, access: { credentials: DEVELOPER_OR_ACCOUNT } } as const;
const ChannelParam = z.object({ channelId: Id });
const EntityParam = z.object({ channelId: Id, id: Id });
const errors = ["not_found", "unauthenticated", "forbidden"] as const;
const gate = "The channel's gate applies: 401 without a sign-in where it requires one, 403 without the entitlement.";

stats.openapi(
  operation({
    ...read,
    operationId: "listStatEntities",
    path: "/stats/v1/channels/{channelId}/entities",
    summary: "List players and teams",
    description: `The entities that data providers have reported for a channel, by name, each with the latest value of its facts. ${gate}`,
    request: { params: ChannelParam, query: EntityQuery },
    responses: { 200: json("A page of entities", listOf(StatEntity).openapi("StatEntityList")) },
    errors,
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { channelId } = c.req.valid("param");
    return c.json(listResponse(c.req.url, query, await listEntities(c.get("ctx"), channelId, query), toStatEntity), 200);
  },
);

stats.openapi(
  operation({
    ...read,
    operationId: "getStatEntity",
    path: "/stats/v1/channels/{channelId}/entities/{id}",
    summary: "Get a player or team",
    description: `One entity with the latest value of its facts. ${gate}`,
    request: { params: EntityParam },
    responses: { 200: json("The entity", StatEntity) },
    errors,
  }),
  async (c) => {
    const { channelId, id } = c.req.valid("param");
    return c.json(toStatEntity(await getEntity(c.get("ctx"), channelId, id)), 200);
  },
);

stats.openapi(
  operation({
    ...read,
    operationId: "listStatHistory",
    path: "/stats/v1/channels/{channelId}/entities/{id}/history",
    summary: "List how a player's facts changed",
    description: `The changes of an entity's facts in the last 30 days, the latest first. ${gate}`,
    request: { params: EntityParam, query: HistoryQuery },
    responses: { 200: json("A page of changes", listOf(StatHistoryEntry).openapi("StatHistory")) },
    errors,
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { channelId, id } = c.req.valid("param");
    return c.json(listResponse(c.req.url, query, await listHistory(c.get("ctx"), channelId, id, query), toHistoryEntry), 200);
  },
);

stats.openapi(
  operation({
    ...read,
    operationId: "listKeyPlays",
    path: "/stats/v1/channels/{channelId}/key-plays",
    summary: "List key plays",
    description: `Moments of a channel's event, the latest first, with the media time to jump to. ${gate}`,
    request: { params: ChannelParam, query: KeyPlayQuery },
    responses: { 200: json("A page of key plays", listOf(KeyPlay).openapi("KeyPlayList")) },
    errors,
  }),
  async (c) => {
    const query = c.req.valid("query");
    const { channelId } = c.req.valid("param");
    return c.json(listResponse(c.req.url, query, await listKeyPlays(c.get("ctx"), channelId, query), toKeyPlay), 200);
  },
);

stats.openapi(
  operation({
    ...manage,
    operationId: "getStatMapping",
    method: "get",
    path: "/stats/v1/mappings/{providerId}",
    summary: "Get a provider's mapping",
    description: "What of a data provider's events is kept as facts and key plays.",
    request: { params: ProviderParam },
    responses: { 200: json("The mapping", ProviderMapping) },
    errors: ["not_found"],
  }),
  async (c) => {
    const row = await getDataProvider(c.get("ctx"), c.req.valid("param").providerId);
    tagVersion(c, row);
    return c.json(toProviderMapping(row.id, row.statMapping), 200);
  },
);

stats.openapi(
  operation({
    ...manage,
    operationId: "setStatMapping",
    method: "put",
    path: "/stats/v1/mappings/{providerId}",
    summary: "Set a provider's mapping",
    description:
      "Sets where a data provider's events have the facts of players and teams, and key plays. Later events follow it; empty lists keep nothing. An event is never rejected because of the mapping: what doesn't have the mapped form is left out. At most 500 entities and key plays and 2,000 facts are read from an event.",
    request: { params: ProviderParam, body: jsonBody(StatMapping) },
    responses: { 200: json("The mapping", ProviderMapping) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const row = await setMapping(c.get("ctx"), c.req.valid("param").providerId, c.req.valid("json"));
    tagVersion(c, row);
    return c.json(toProviderMapping(row.id, row.statMapping), 200);
  },
);
