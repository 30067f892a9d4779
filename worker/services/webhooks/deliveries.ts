import { eq } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import { webhookEndpoints } from "#db/schema/webhooks.ts";
import { webhookEndpointOf } from "#worker/durable-objects/stubs.ts";
import type { Delivery, DeliveryState, QueuedEvent } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { conflict, type Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { foldText } from "#worker/lib/fold-text.ts";
import { newId } from "#worker/lib/ids.ts";
import { signingKeys } from "./signature.ts";
import { type EventData, type SampleName, type WebhookPayload, WebhookPayload as Payload } from "./endpoint-schemas.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { sampleEvent } from "#worker/services/event-catalogue/event-samples.ts";
import type { ListPage, ListQuery } from "#worker/services/core/listing.ts";
import type { DeliveryPayload } from "./delivery-schemas.ts";
import { payloadText, readTarget } from "./dispatch.ts";
import { hasPeople, mayReadPeople, withoutPerson } from "./personal-data.ts";
import { requireEndpoint, requireWebhooks } from "./webhooks.ts";

/** The secret that signs samples, for testing a verification. */
export const SAMPLE_SECRET = "whsec_dGlmbyBzYW1wbGUgc2VjcmV0IG9mIDMyIGJ5dGVzLi4=";
const SAMPLE_URL = "https://hooks.demo.example/tifo";

type Origin = Pick<QueuedEvent, "service" | "method" | "originPath">;

/** The service and operation of each sample. */
const ORIGINS: Record<z.output<typeof SampleName> | "webhook.test", Origin> = {
  new_account: { service: "account-service-v3", method: "POST", originPath: "/account/v3" },
  entitlement_purchased: { service: "billing-service-v1", method: "POST", originPath: "/billing/v1/stripe/webhook" },
  "webhook.test": { service: "admin-service-v1", method: "POST", originPath: "/webhooks/v1/test" },
};

interface DeliveryListQuery extends ListQuery {
  webhookId?: string;
  state?: DeliveryState;
  type?: string;
}

/** The deliveries of an endpoint, newest first by default. */
export async function listDeliveries(ctx: Ctx, query: DeliveryListQuery): Promise<ListPage<Delivery>> {
  const { webhookId, limit, offset, state = null, type = null, search, sortDirection = -1 } = query;
  const { id, enabled } = webhookId === undefined ? await requireWebhooks(ctx) : await requireEndpoint(ctx, webhookId);
  const { rows: found, totalCount } = await webhookEndpointOf(ctx.env, ctx.siteId, id).deliveries({
    ...{ offset, state, type, search: search === undefined ? null : foldText(search) },
    limit: limit + 1,
    direction: sortDirection,
    cursor: readCursor(query.cursor, sortDirection),
  });
  // A disabled endpoint has no next attempt.
  const rows = found.slice(0, limit).map((row) => (enabled ? row : { ...row, nextTry: null }));
  const cursor = found.length > limit ? `${sortDirection}.${rows.at(-1)?.number}` : undefined;
  return { rows, totalCount, offset, sortBy: "created", sortDirection, searchFields: ["type", "resource"], cursor };
}

/** What a delivery of any of the site's endpoints sends, and what was responded; without what the caller may not read of people. */
export async function readPayload(ctx: Ctx, deliveryId: string): Promise<z.output<typeof DeliveryPayload>> {
  const endpoints = await ctx.db.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(eq(webhookEndpoints.siteId, ctx.siteId));
  const isReader = mayReadPeople(await ctx.caller());
  const sent = await Promise.all(endpoints.map(({ id }) => webhookEndpointOf(ctx.env, ctx.siteId, id).payload(deliveryId)));
  const at = sent.findIndex((found) => found !== null);
  const [endpoint, found] = [endpoints[at], sent[at]];
  const target = endpoint && found ? await readTarget(ctx.env, ctx.siteId, endpoint.id) : undefined;
  if (!endpoint || !found || !target) throw notStored();
  const full = Payload.parse(JSON.parse(await payloadText(target, found.event)));
  const isWhole = isReader || !hasPeople(full.eventData.type);
  return {
    ...{ _id: deliveryId, webhookId: endpoint.id },
    payload: isWhole ? full : { ...full, eventData: withoutPerson(full.eventData), signature: null },
    // A receiver may repeat what it was sent.
    attempts: found.attempts.map((attempt) => ({ ...attempt, response: (isWhole ? attempt.response : undefined) ?? null })),
  };
}

/** Sends a delivery of any of the site's endpoints again. */
export async function redeliver(ctx: Ctx, deliveryId: string): Promise<void> {
  const { id, enabled, siteId } = webhookEndpoints;
  const endpoints = await ctx.db.select({ id, enabled }).from(webhookEndpoints).where(eq(siteId, ctx.siteId));
  await ctx.caller();
  const known = await Promise.all(endpoints.map(({ id }) => webhookEndpointOf(ctx.env, ctx.siteId, id).has(deliveryId)));
  const endpoint = endpoints[known.indexOf(true)];
  if (endpoint && !endpoint.enabled) throw conflict("The endpoint is disabled; enable it first");
  if (!endpoint || !(await webhookEndpointOf(ctx.env, ctx.siteId, endpoint.id).redeliver(deliveryId))) throw notStored();
}

function notStored(): Failure {
  return notFound("Delivery not found; settled deliveries are kept for seven days");
}

/** Sends a sample to the site's own endpoint, regardless of its subscriptions; returns the event's id. Has its own resource, so it waits for nothing. */
export async function sendTest(ctx: Ctx, sampleName: z.output<typeof SampleName> | undefined): Promise<{ eventId: string }> {
  const endpoint = await requireWebhooks(ctx);
  await ctx.caller();
  if (!endpoint.enabled) throw conflict("The endpoint is disabled");
  const id = newId(ctx.now);
  const type = sampleName ?? "webhook.test";
  const sample = sampleEvent(type);
  const data = type === "webhook.test" ? { sentAt: ctx.now } : sample.data;
  const eventData = { ...sample, id, created: ctx.now, sequence: 0, resource: `test/${id}`, data };
  const from = { ...ORIGINS["webhook.test"], service: ORIGINS[type].service };
  await webhookEndpointOf(ctx.env, ctx.siteId, endpoint.id).accept([toQueuedEvent(eventData, from)], false);
  return { eventId: id };
}

/** A sample delivery's payload, signed with the sample secret. */
export async function samplePayload(sampleName: z.output<typeof SampleName>): Promise<z.output<typeof WebhookPayload>> {
  const target = { url: SAMPLE_URL, keys: await signingKeys(SAMPLE_SECRET) };
  return Payload.parse(JSON.parse(await payloadText(target, toQueuedEvent(sampleEvent(sampleName), ORIGINS[sampleName]))));
}

function toQueuedEvent(eventData: z.output<typeof EventData>, from: Origin): QueuedEvent {
  const { id, type, resource, data } = eventData;
  const account = [data.accountId, type === "new_account" ? data._id : null].find((value) => typeof value === "string") ?? null;
  return { id, type, resource, eventData: JSON.stringify(eventData), account, ...from };
}

/** A cursor is only valid in its own sort direction. */
function readCursor(cursor: string | undefined, sortDirection: 1 | -1): number | null {
  if (cursor === undefined) return null;
  const [, direction, number] = /^(-?1)\.(\d{1,15})$/.exec(cursor) ?? [];
  if (number === undefined || Number(direction) !== sortDirection)
    throw invalid("cursor", "Use the cursor from `pagination.next` unchanged");
  return Number(number);
}
