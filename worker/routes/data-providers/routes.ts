import { createArea } from "#worker/http/area.ts";
import { DEVELOPER, DEVELOPER_OR_ACCOUNT, SIGNATURE } from "#worker/http/credentials.ts";
import { listAnswer, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import {
  deleteDataProvider,
  listAvailableProviders,
  registerDataProvider,
  rotateProviderSecret,
  updateDataProvider,
} from "#worker/services/data-providers/data-providers.ts";
import { ingestEvent, listProviderEvents } from "#worker/services/data-providers/provider-events.ts";
import {
  AvailableProviders,
  ChangedDataProvider,
  DataProviderInput,
  DeletedDataProvider,
  EventIdHeader,
  ProviderEvent,
  ProviderEventInput,
  ProviderParam,
  ReceivedEvent,
  RegisteredDataProvider,
  RotatedSecret,
  toAvailable,
  toProviderEvent,
} from "#worker/services/data-providers/schemas.ts";

export const dataProviders = createArea();
const tag = "Data providers";

dataProviders.openapi(
  operation({
    operationId: "registerDataProvider",
    tag,
    method: "post",
    path: "/dataprovider/v1/registration",
    summary: "Register a data provider",
    description:
      "Makes a system known that tells of what happens: a JSON Schema says what its events look like, and the schema's fields become facts that automation rules wait for. Answers the secret with which the provider signs its calls.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    request: { body: jsonBody(DataProviderInput) },
    responses: { 201: json("Its id and secret", RegisteredDataProvider) },
  }),
  async (c) => {
    const { row, secret } = await registerDataProvider(c.var.ctx, c.req.valid("json"));
    return c.json({ success: true as const, message: "Registered", dataProviderId: row.id, secret }, 201);
  },
);

dataProviders.openapi(
  operation({
    operationId: "listAvailableDataProviders",
    tag,
    method: "get",
    path: "/dataprovider/v1/available",
    summary: "List the site's data providers",
    description: "The providers whose facts rules can wait for, the newest first; a 404 where the site has none.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {},
    responses: { 200: json("The providers", AvailableProviders) },
    errors: ["not_found"],
  }),
  async (c) => {
    const rows = await listAvailableProviders(c.var.ctx);
    return c.json({ success: true as const, results: rows.map(toAvailable) }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "updateDataProvider",
    tag,
    method: "put",
    path: "/dataprovider/v1/{id}",
    summary: "Change a data provider",
    description: "The provider replaces what it says of itself, its schema with it. The body is signed.",
    access: { credentials: SIGNATURE },
    request: { params: IdParam, body: jsonBody(DataProviderInput) },
    responses: { 200: json("The provider as it is now", ChangedDataProvider) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const row = await updateDataProvider(c.var.ctx, c.req.valid("json"));
    return c.json({ success: true as const, message: "Changed", result: toAvailable(row) }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "deleteDataProvider",
    tag,
    method: "delete",
    path: "/dataprovider/v1/{id}",
    summary: "Delete a data provider",
    description: "The provider leaves; what is signed is its id. Rules that wait for its facts stay, and fire no more.",
    access: { credentials: SIGNATURE },
    request: { params: IdParam },
    responses: { 200: json("It is gone", DeletedDataProvider) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deleteDataProvider(c.var.ctx);
    return c.json({ success: true as const, message: "Deleted" }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "rotateDataProviderSecret",
    tag,
    method: "post",
    path: "/dataprovider/v1/{id}/rotate",
    summary: "Rotate a data provider's secret",
    description: "Answers a new secret. The one before works beside it for 24 hours, so that the provider can change over.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    request: { params: IdParam },
    responses: { 200: json("The new secret", RotatedSecret) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const rotated = await rotateProviderSecret(c.var.ctx, c.req.valid("param").id);
    return c.json({ success: true as const, message: "Rotated", ...rotated }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "ingestProviderEvent",
    tag,
    method: "post",
    path: "/dataprovider/v1/{providerId}/events",
    summary: "Send an event",
    description:
      "The provider tells what happened; the body is signed and must fit its schema. When this answers, the event is recorded, and what its rules put on the screens is on its way. One with a `Tifo-Event-Id` that was sent before is answered with 200 and counts once.",
    access: { credentials: SIGNATURE },
    input: { maxBytes: 64 * 1024 },
    request: { params: ProviderParam, headers: EventIdHeader, body: jsonBody(ProviderEventInput) },
    responses: { 200: json("It was known already", ReceivedEvent), 202: json("Taken", ReceivedEvent) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const externalId = c.req.valid("header")["Tifo-Event-Id"];
    const { eventId, isNew } = await ingestEvent(c.var.ctx, c.req.valid("json"), externalId);
    if (isNew) return c.json({ success: true as const, message: "Event taken", eventId }, 202);
    return c.json({ success: true as const, message: "Event known already", eventId }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "listProviderEvents",
    tag,
    method: "get",
    path: "/dataprovider/v1/{providerId}/events",
    summary: "List a provider's events",
    description:
      "What the provider has sent in the last 7 days, the newest first, with the rules that each event made fire and what came of them.",
    access: { credentials: DEVELOPER },
    request: { params: ProviderParam, query: listQuery(["created"], {}) },
    responses: { 200: json("A page of events", listOf(ProviderEvent).openapi("ProviderEventList")) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listProviderEvents(c.var.ctx, c.req.valid("param").providerId, query);
    return c.json(listAnswer(c.req.url, query, page, toProviderEvent), 200);
  },
);
