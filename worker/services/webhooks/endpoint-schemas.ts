import { z } from "@hono/zod-openapi";
import { WEBHOOK_DISABLED_REASONS, WEBHOOK_SERVICES, type WebhookService } from "#db/enums.ts";
import type { WebhookRow } from "#db/schema/webhooks.ts";
import { publicMessage } from "#worker/lib/schemas/invalid-input.ts";
import { Id, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";

const missingUrl = publicMessage("Missing Webhooks Url");

const WebhookUrl = z
  .string(missingUrl)
  .min(1, missingUrl)
  .max(2000)
  .describe("https, on a public host; redirects are not followed")
  .openapi({ example: "https://hooks.demo.example/tifo" });

export const Service = z.enum(WEBHOOK_SERVICES).openapi("WebhookService", { example: "overlay-service-v1" });

const SubscriptionMap = z.partialRecord(Service, z.boolean());
const subscriptions = "Services whose events are sent: a map of service to true or false, or a list of services";

const SettingsInput = z.strictObject({
  enabled: z.boolean(),
  webhookUrl: WebhookUrl,
  webhookSubscriptions: z.union([SubscriptionMap, z.array(Service).max(WEBHOOK_SERVICES.length)]).describe(subscriptions),
});

export const WebhookInput = z.strictObject({ webhooks: SettingsInput }).openapi("WebhookInput", {
  example: {
    webhooks: {
      enabled: true,
      webhookUrl: "https://hooks.demo.example/tifo",
      webhookSubscriptions: { "overlay-service-v1": true, "account-service-v3": true },
    },
  },
});

export const SubscriptionsInput = z
  .strictObject({ webhookSubscriptions: SubscriptionMap.describe("Services to enable or disable; omitted ones are unchanged") })
  .openapi("WebhookSubscriptionsInput", { example: { webhookSubscriptions: { "page-service-v2": true, "overlay-service-v1": false } } });

const Disabled = z
  .object({
    reason: z.enum(WEBHOOK_DISABLED_REASONS).describe("`gone`: it responded with 410; `failing`: no delivery succeeded for 75 hours"),
    at: Time,
  })
  .nullable()
  .describe("Why and when it was disabled automatically; null if it wasn't");

const delivered = {
  enabled: z.boolean(),
  disabled: Disabled,
  previousSecretExpires: Time.nullable().describe(
    "Until then deliveries are also signed with the secret from before the last rotation; older secrets expire at their own time",
  ),
};

export const Webhooks = z
  .object({
    _id: Id.nullable().describe("null until the settings are created"),
    webhookUrl: z.string().nullable(),
    webhookSubscriptions: z.record(z.string(), z.boolean()).describe("Every service, and whether its events are sent"),
    ...delivered,
  })
  .openapi("Webhooks");

const programmatic = { id: Id, webhookUrl: z.string(), service: Service };

export const WebhooksWithProgrammatic = Webhooks.extend({
  programmatic: z
    .array(z.object({ ...programmatic, ...delivered, ...Tracked }).openapi("ProgrammaticWebhookState"))
    .describe("The programmatic webhooks, oldest first"),
}).openapi("WebhooksWithProgrammatic");

const Secret = z
  .string()
  .describe("Signs deliveries; shown only once")
  .openapi({ example: "whsec_dGlmbyBzYW1wbGUgc2VjcmV0IG9mIDMyIGJ5dGVzLi4=" });

export const WebhooksWithSecret = Webhooks.extend({ secret: Secret.optional() }).openapi("WebhooksWithSecret");

export const ProgrammaticInput = z.strictObject({ webhookUrl: WebhookUrl, service: Service }).openapi("ProgrammaticWebhookInput", {
  example: { webhookUrl: "https://hooks.demo.example/automation", service: "account-service-v3" },
});

export const ProgrammaticWebhook = z
  .object({ ...programmatic, enabled: z.boolean(), secret: Secret, ...Tracked })
  .openapi("ProgrammaticWebhook");

export const WebhookIdParam = z.object({
  id: z.string().regex(ID_PATTERN, publicMessage("Missing Webhooks Id")).openapi({ example: "5eed00000000000000007001" }),
});

export const RotateInput = z
  .strictObject({
    webhookId: Id.optional().describe("A programmatic webhook, which this also enables; if omitted, the site's own endpoint"),
  })
  .openapi("RotateWebhookSecretInput", { example: {} });

export const RotatedSecret = z.object({ secret: Secret, previousSecretExpires: Time }).openapi("RotatedWebhookSecret");

export const SAMPLE_NAMES = ["new_account", "entitlement_purchased"] as const;
export const SampleName = z.enum(SAMPLE_NAMES, publicMessage("Invalid sample name"));
export const SampleQuery = z.strictObject({ sampleName: SampleName.openapi({ example: "new_account" }) });

export const TestInput = z
  .strictObject({ sampleName: SampleName.optional().describe("The sample event; if omitted, `webhook.test`") })
  .openapi("WebhookTestInput", { example: { sampleName: "new_account" } });

export const EventData = z
  .object({
    id: Id.describe("The same for every attempt: use it to drop duplicates"),
    type: z.string().openapi({ example: "overlay.broadcast" }),
    created: Time,
    sequence: z.number().int().describe("Position in the site's log; 0 for a test"),
    previousSequence: z.number().int().nullable().describe("The sequence of the resource's previous event, from any service"),
    resource: z.string().openapi({ example: "overlay/5eed0000000000000000a001" }),
    data: z.record(z.string(), z.unknown()),
  })
  .openapi("WebhookEventData");

export const WebhookPayload = z
  .object({
    account: z.string().nullable().describe("The account that the event is about, or the one that caused it"),
    eventData: EventData,
    method: z.string().nullable().describe("HTTP method of the operation that caused it; null for Tifo itself"),
    originPath: z.string().nullable().describe("Path of that operation, as in the API reference"),
    service: Service,
    signature: z.string().describe("Hex HMAC-SHA256 of the JSON text of `eventData`, keyed with the secret as shown"),
    webhookUrl: z.string(),
  })
  .openapi("WebhookPayload");

/** The data of an endpoint's own events; never contains a secret. */
export const WebhookEvent = z
  .object({
    _id: Id,
    webhookUrl: z.string(),
    services: z.array(Service),
    ...delivered,
    ...Tracked,
  })
  .openapi("WebhookEvent");

export type WebhookSettings = z.output<typeof SettingsInput>;
export type SubscriptionMap = z.output<typeof SubscriptionMap>;

export function toWebhooks(row: WebhookRow | undefined) {
  return {
    _id: row?.id ?? null,
    webhookUrl: row?.url ?? null,
    webhookSubscriptions: toSubscriptionMap(row?.services ?? []),
    ...toDelivered(row),
  } satisfies z.output<typeof Webhooks>;
}

export function toWebhooksWithProgrammatic(own: WebhookRow | undefined, rows: WebhookRow[]) {
  return {
    ...toWebhooks(own),
    programmatic: rows.map((row) => ({ ...toProgrammatic(row), ...toDelivered(row) })),
  } satisfies z.output<typeof WebhooksWithProgrammatic>;
}

export function toProgrammaticWebhook(row: WebhookRow, secret: string) {
  return { ...toProgrammatic(row), enabled: row.enabled, secret } satisfies z.output<typeof ProgrammaticWebhook>;
}

function toProgrammatic({ id, url, services: [service = WEBHOOK_SERVICES[0]], created, modified }: WebhookRow) {
  return { id, webhookUrl: url, service, created, modified };
}

export function toWebhookEvent(row: WebhookRow) {
  return {
    _id: row.id,
    webhookUrl: row.url,
    services: row.services,
    ...toDelivered(row),
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof WebhookEvent>;
}

function toDelivered(row: WebhookRow | undefined) {
  const { disabledReason = null, disabledAt = null } = row ?? {};
  return {
    enabled: row?.enabled ?? false,
    disabled: disabledReason === null || disabledAt === null ? null : { reason: disabledReason, at: disabledAt },
    previousSecretExpires: row?.previousSecretExpires ?? null,
  };
}

function toSubscriptionMap(services: WebhookService[]) {
  return Object.fromEntries(WEBHOOK_SERVICES.map((service) => [service, services.includes(service)]));
}

export const Catalogue = z
  .object({
    results: z.array(
      z.object({
        type: z.string().openapi({ example: "overlay.broadcast" }),
        description: z.string(),
        services: z.array(Service).describe("The services that publish it"),
        schema: z.record(z.string(), z.unknown()).describe("JSON Schema of `eventData`"),
        sample: EventData,
      }),
    ),
  })
  .openapi("WebhookCatalogue");
