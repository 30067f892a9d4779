import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { ANYONE, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import { readEvents } from "#worker/services/webhooks/event-feed.ts";
import { eventCatalogue } from "#worker/services/event-catalogue/event-samples.ts";
import { samplePayload, SAMPLE_SECRET } from "#worker/services/webhooks/deliveries.ts";
import {
  createProgrammatic,
  deleteProgrammatic,
  listWebhooks,
  rotateSecret,
  setWebhooks,
  updateSubscriptions,
} from "#worker/services/webhooks/webhooks.ts";
import {
  Catalogue,
  ProgrammaticInput,
  ProgrammaticWebhook,
  RotatedSecret,
  RotateInput,
  SampleQuery,
  SubscriptionsInput,
  toProgrammaticWebhook,
  toWebhooks,
  toWebhooksWithProgrammatic,
  WebhookIdParam,
  WebhookInput,
  WebhookPayload,
  WebhooksWithProgrammatic,
  WebhooksWithSecret,
} from "#worker/services/webhooks/endpoint-schemas.ts";
import { EventList, EventQuery } from "#worker/services/webhooks/schemas.ts";

export const webhooks = createArea();
const tag = "Webhooks";

webhooks.openapi(
  operation({
    operationId: "getWebhooks",
    tag,
    method: "get",
    path: "/webhooks/v1",
    summary: "Get the webhook settings",
    description:
      "Which events of the site are sent where. Disabled and without a URL until configured. `programmatic` lists the programmatic webhooks.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {},
    responses: { 200: json("The settings", WebhooksWithProgrammatic) },
  }),
  async (c) => {
    const { own, programmatic } = await listWebhooks(c.get("ctx"));
    const answer = toWebhooksWithProgrammatic(own, programmatic);
    if (own) await tagVersionOf(c, own, JSON.stringify(answer.programmatic));
    return c.json(answer, 200);
  },
);

webhooks.openapi(
  operation({
    operationId: "createWebhooks",
    tag,
    method: "post",
    path: "/webhooks/v1",
    summary: "Set the webhooks",
    description:
      "Sends the events of these services to this URL from now on. The first call returns the `secret` that signs them, only once; later calls change the settings. Updating an endpoint that was disabled after failures retries its deliveries. For the events of `account-service-v3`, which have personal data, the key also needs `account:read`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    retries: { replay: "none" },
    request: { body: jsonBody(WebhookInput) },
    responses: { 201: json("The settings, with the secret", WebhooksWithSecret), 200: json("The changed settings", WebhooksWithSecret) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const { row, secret } = await setWebhooks(c.get("ctx"), c.req.valid("json").webhooks);
    tagVersion(c, row);
    return c.json({ ...toWebhooks(row), secret }, secret === undefined ? 200 : 201);
  },
);

webhooks.openapi(
  operation({
    operationId: "replaceWebhooks",
    tag,
    method: "put",
    path: "/webhooks/v1",
    summary: "Replace the webhook settings",
    description:
      "Replaces all settings. If there were none, they are created and the response has the `secret`, only once. For the events of `account-service-v3`, which have personal data, the key also needs `account:read`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    retries: { replay: "none" },
    request: { body: jsonBody(WebhookInput) },
    responses: { 200: json("The settings", WebhooksWithSecret) },
    errors: ["conflict", "precondition_failed"],
  }),
  async (c) => {
    const { row, secret } = await setWebhooks(c.get("ctx"), c.req.valid("json").webhooks);
    tagVersion(c, row);
    return c.json({ ...toWebhooks(row), secret }, 200);
  },
);

webhooks.openapi(
  operation({
    operationId: "updateWebhookSubscriptions",
    tag,
    method: "patch",
    path: "/webhooks/v1/subscriptions",
    summary: "Change the subscriptions",
    description:
      "Enables and disables services; omitted ones are unchanged. For the events of `account-service-v3`, which have personal data, the key also needs `account:read`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(SubscriptionsInput) },
    responses: { 204: { description: "Changed" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    tagVersion(c, await updateSubscriptions(c.get("ctx"), c.req.valid("json").webhookSubscriptions));
    return c.body(null, 204);
  },
);

webhooks.openapi(
  operation({
    operationId: "createProgrammaticWebhook",
    tag,
    method: "post",
    path: "/webhooks/v1/programmatic",
    summary: "Add a programmatic webhook",
    description:
      "Sends the events of one service to another URL, signed with its own secret, which is shown only once. At most 50 per site. For the events of `account-service-v3`, which have personal data, the key also needs `account:read`.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    retries: { replay: "none" },
    request: { body: jsonBody(ProgrammaticInput) },
    responses: { 201: json("The webhook", ProgrammaticWebhook) },
    errors: ["conflict"],
  }),
  async (c) => {
    const { row, secret } = await createProgrammatic(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, row);
    return c.json(toProgrammaticWebhook(row, secret), 201);
  },
);

webhooks.openapi(
  operation({
    operationId: "deleteProgrammaticWebhook",
    tag,
    method: "delete",
    path: "/webhooks/v1/programmatic/{id}",
    summary: "Delete a programmatic webhook",
    description: "Deletes the webhook. Pending deliveries are dropped.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: WebhookIdParam },
    responses: { 204: { description: "The webhook is deleted" } },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await deleteProgrammatic(c.get("ctx"), c.req.valid("param").id);
    return c.body(null, 204);
  },
);

webhooks.openapi(
  operation({
    operationId: "rotateWebhookSecret",
    tag,
    method: "post",
    path: "/webhooks/v1/secret/rotate",
    summary: "Rotate a signing secret",
    description:
      "Gives an endpoint a new secret, shown only once. For 24 hours, `webhook-signature` also has the previous secret's signature, so that the receiver can switch, even if you rotate again in between; `signature` uses the new secret immediately. At most 20 rotations in 24 hours. This enables a disabled programmatic webhook and retries its pending deliveries.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    retries: { replay: "none" },
    request: { body: optionalJsonBody(RotateInput) },
    responses: { 200: json("The new secret", RotatedSecret) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(await rotateSecret(c.get("ctx"), c.req.valid("json")?.webhookId), 200),
);

webhooks.openapi(
  operation({
    operationId: "getWebhookSample",
    tag,
    method: "get",
    path: "/webhooks/v1/sample-data",
    summary: "Get a sample delivery",
    description: `The body of a sample delivery, for developing a receiver. It is signed with \`${SAMPLE_SECRET}\`.`,
    access: { credentials: ANYONE },
    request: { query: SampleQuery },
    responses: { 200: json("The body", WebhookPayload) },
  }),
  async (c) => c.json(await samplePayload(c.req.valid("query").sampleName), 200),
);

webhooks.openapi(
  operation({
    operationId: "getWebhookCatalogue",
    tag,
    method: "get",
    path: "/webhooks/v1/catalogue",
    summary: "List the event types",
    description:
      'Every event type with its JSON Schema and a sample. `data` is `{ "erased": true }` if it was about a person who has since been deleted.',
    access: { credentials: ANYONE },
    request: {},
    responses: { 200: json("The catalogue", Catalogue) },
  }),
  (c) => c.json({ results: eventCatalogue() }, 200),
);

webhooks.openapi(
  operation({
    operationId: "listEvents",
    tag,
    method: "get",
    path: "/webhooks/v1/events",
    summary: "Read the event log",
    description:
      "All events of the site, in one total order, without gaps. Poll with `after` until it equals `head`, for example to catch up after missed webhooks. If events are large, a page has fewer than `limit`. Kept for 30 days unless the deployment is configured otherwise. For a key without `account:read`, the `data` of `account-service-v3` events only has ids.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: EventQuery },
    responses: { 200: json("Events, oldest first", EventList) },
  }),
  async (c) => c.json(await readEvents(c.get("ctx"), c.req.valid("query")), 200),
);
