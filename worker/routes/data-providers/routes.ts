import { createArea } from "#worker/http/area.ts";
import { DEVELOPER, DEVELOPER_OR_ACCOUNT, SIGNATURE } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
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
      "Registers a system that sends events. A JSON Schema defines its events, and the schema's fields become facts for automation rules. Returns the secret with which the provider signs its requests.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    request: { body: jsonBody(DataProviderInput) },
    responses: { 201: json("The provider's id and secret", RegisteredDataProvider) },
  }),
  async (c) => {
    const { row, secret } = await registerDataProvider(c.get("ctx"), c.req.valid("json"));
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
    description: "Lists the providers whose facts can be used in rules, newest first; 404 if the site has none.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {},
    responses: { 200: json("The providers", AvailableProviders) },
    errors: ["not_found"],
  }),
  async (c) => {
    const rows = await listAvailableProviders(c.get("ctx"));
    return c.json({ success: true as const, results: rows.map(toAvailable) }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "updateDataProvider",
    tag,
    method: "put",
    path: "/dataprovider/v1/{id}",
    summary: "Update a data provider",
    description: "Replaces the provider's registration, including its schema. Called by the provider itself, which signs the body.",
    access: { credentials: SIGNATURE },
    request: { params: IdParam, body: jsonBody(DataProviderInput) },
    responses: { 200: json("The updated provider", ChangedDataProvider) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const row = await updateDataProvider(c.get("ctx"), c.req.valid("json"));
    return c.json({ success: true as const, message: "Updated", result: toAvailable(row) }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "deleteDataProvider",
    tag,
    method: "delete",
    path: "/dataprovider/v1/{id}",
    summary: "Delete a data provider",
    description: "Deletes a provider. Called by the provider itself, which signs its id. Rules that use its facts stay but no longer fire.",
    access: { credentials: SIGNATURE },
    request: { params: IdParam },
    responses: { 200: json("The provider is deleted", DeletedDataProvider) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deleteDataProvider(c.get("ctx"));
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
    description: "Returns a new secret. The previous one keeps working for 24 hours, so that the provider can switch over.",
    access: { credentials: DEVELOPER },
    retries: { replay: "none" },
    request: { params: IdParam },
    responses: { 200: json("The new secret", RotatedSecret) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const rotated = await rotateProviderSecret(c.get("ctx"), c.req.valid("param").id);
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
      "Sends an event; the body is signed and must match the provider's schema. When this request returns, the event is stored and the overlays of its rules are being delivered. An event with an already used `Tifo-Event-Id` returns 200 and counts once.",
    access: { credentials: SIGNATURE },
    input: { maxBytes: 64 * 1024 },
    request: { params: ProviderParam, headers: EventIdHeader, body: jsonBody(ProviderEventInput) },
    responses: { 200: json("The event was already received", ReceivedEvent), 202: json("The event is accepted", ReceivedEvent) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const externalId = c.req.valid("header")["Tifo-Event-Id"];
    const { eventId, isNew } = await ingestEvent(c.get("ctx"), c.req.valid("json"), externalId);
    if (isNew) return c.json({ success: true as const, message: "Event accepted", eventId }, 202);
    return c.json({ success: true as const, message: "Event already received", eventId }, 200);
  },
);

dataProviders.openapi(
  operation({
    operationId: "listProviderEvents",
    tag,
    method: "get",
    path: "/dataprovider/v1/{providerId}/events",
    summary: "List a provider's events",
    description: "Lists the provider's events of the last 7 days, newest first, with the rules that each event fired and their outcomes.",
    access: { credentials: DEVELOPER },
    request: { params: ProviderParam, query: listQuery(["created"], {}) },
    responses: { 200: json("A page of events", listOf(ProviderEvent).openapi("ProviderEventList")) },
    errors: ["not_found"],
  }),
  async (c) => {
    const query = c.req.valid("query");
    const page = await listProviderEvents(c.get("ctx"), c.req.valid("param").providerId, query);
    return c.json(listResponse(c.req.url, query, page, toProviderEvent), 200);
  },
);
