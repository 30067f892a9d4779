import { and, asc, count, eq, sql } from "drizzle-orm";
import { sites } from "#db/schema/sites.ts";
import { webhookEndpoints, type WebhookRow } from "#db/schema/webhooks.ts";
import { WEBHOOK_SERVICES, type WebhookService } from "#db/enums.ts";
import { requirePublicUrl } from "#worker/integrations/public-host.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { conflict, rerunOnDuplicate, notFound, replaceConflict } from "#worker/lib/errors.ts";
import { newWebhookSecret } from "./signature.ts";
import { type SubscriptionMap, toWebhookEvent, type WebhookSettings } from "./endpoint-schemas.ts";
import { OVERLAP } from "#worker/services/sites/api-keys.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { isSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import { requirePersonalData } from "./personal-data.ts";
import { previousSecrets, SECRET_PURPOSE } from "./dispatch.ts";

/** How many programmatic webhooks a site may have. */
const MAX_PROGRAMMATIC = 50;
/** In a sandbox, which anybody can create: each event is a request to every endpoint, at addresses that a stranger chose. */
const MAX_IN_SANDBOX = 5;
/** How many previous secrets of an endpoint may still sign: each one adds to the headers. */
const MAX_PREVIOUS = 20;

/** The site's own endpoint; undefined until it is created. */
export async function getWebhooks(ctx: Ctx): Promise<WebhookRow | undefined> {
  const [row] = await ctx.db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.siteId, ctx.siteId), eq(webhookEndpoints.kind, "site")));
  return row;
}

/** The site's own endpoint, if any, and the programmatic ones, oldest first. */
export async function listWebhooks(ctx: Ctx): Promise<{ own: WebhookRow | undefined; programmatic: WebhookRow[] }> {
  const rows = await ctx.db
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.siteId, ctx.siteId))
    .orderBy(asc(webhookEndpoints.id));
  return { own: rows.find(({ kind }) => kind === "site"), programmatic: rows.filter(({ kind }) => kind === "programmatic") };
}

/** Creates or updates the site's own endpoint; returns its secret on creation. Clears an automatic disabling. */
export async function setWebhooks(ctx: Ctx, input: WebhookSettings): Promise<{ row: WebhookRow; secret?: string }> {
  const { enabled, webhookUrl: url, webhookSubscriptions } = input;
  const settings = { enabled, url, services: servicesIn(webhookSubscriptions), disabledReason: null, disabledAt: null };
  const current = await getWebhooks(ctx);
  // Pending deliveries go to the new URL, and may be older than the current subscriptions.
  const moves = current !== undefined && current.url !== url;
  await requirePersonalData(ctx, ...settings.services, ...(current?.services ?? []), ...(moves ? WEBHOOK_SERVICES : []));
  // An endpoint whose host is gone can still be turned off.
  if (enabled || current?.url !== url) await requirePublicUrl(ctx.env, "webhooks.webhookUrl", url);
  if (current) return { row: await change(ctx, current, settings, "webhook.updated") };
  // If-Match requires existing settings.
  requireMatch(ctx, { version: -1 });
  const { row, secret } = await newEndpoint(ctx, { kind: "site", ...settings });
  await rerunOnDuplicate("webhook_endpoints.site_id", () =>
    commit(ctx, ctx.db.insert(webhookEndpoints).values(row), changeEvent("webhook.created", row)),
  );
  return { row, secret };
}

/** Enables and disables services of the site's own endpoint; the others stay unchanged. */
export async function updateSubscriptions(ctx: Ctx, map: SubscriptionMap): Promise<WebhookRow> {
  const current = await requireWebhooks(ctx);
  const services = WEBHOOK_SERVICES.filter((service) => map[service] ?? current.services.includes(service));
  await requirePersonalData(ctx, ...services);
  return change(ctx, current, { services }, "webhook.updated");
}

/** Adds an endpoint for one service, with its own secret. */
export async function createProgrammatic(
  ctx: Ctx,
  { webhookUrl: url, service }: { webhookUrl: string; service: WebhookService },
): Promise<{ row: WebhookRow; secret: string }> {
  await ctx.caller();
  await requirePersonalData(ctx, service);
  await requirePublicUrl(ctx.env, "webhookUrl", url);
  const created = await newEndpoint(ctx, { kind: "programmatic", url, services: [service], enabled: true });
  const isLimited = await isSandbox(ctx.env, ctx.siteId);
  const max = isLimited ? MAX_IN_SANDBOX : MAX_PROGRAMMATIC;
  const tooMany = conflict(`A ${isLimited ? "sandbox" : "site"} has at most ${max} programmatic webhooks; delete one first`);
  await replaceConflict(tooMany, () =>
    commitIfUnchanged(ctx, insertUnderLimit(ctx, created.row, max), changeEvent("webhook.created", created.row)),
  );
  return created;
}

export async function deleteProgrammatic(ctx: Ctx, id: string): Promise<void> {
  const current = await requireEndpoint(ctx, id);
  if (current.kind !== "programmatic") throw notFound("Webhook not found");
  requireMatch(ctx, current);
  const gone = deleteRow(ctx, webhookEndpoints, current);
  await commitIfUnchanged(ctx, gone, changeEvent("webhook.deleted", current));
}

/**
 * Gives an endpoint a new secret; previous ones keep signing for their overlap, so that the receiver can switch. Enables a programmatic
 * endpoint, which has no settings to enable it otherwise.
 */
export async function rotateSecret(ctx: Ctx, id: string | undefined): Promise<{ secret: string; previousSecretExpires: number }> {
  const current = id === undefined ? await requireWebhooks(ctx) : await requireEndpoint(ctx, id);
  // Secrets that can't be decrypted, because the deployment's secret has changed twice, are dropped.
  const overlapping = await previousSecrets(ctx.env, current, ctx.now).catch(() => []);
  if (overlapping.length >= MAX_PREVIOUS) throw conflict(`At most ${MAX_PREVIOUS} rotations in 24 hours`);
  const secret = newWebhookSecret();
  const previousSecretExpires = ctx.now + OVERLAP;
  const last = await open(ctx.env, SECRET_PURPOSE, current.secretSealed).catch(() => undefined);
  const previous = [...(last === undefined ? [] : [{ secret: last, expires: previousSecretExpires }]), ...overlapping];
  const secrets = {
    secretSealed: await seal(ctx.env, SECRET_PURPOSE, secret),
    previousSecretSealed: await seal(ctx.env, SECRET_PURPOSE, JSON.stringify(previous)),
    previousSecretExpires,
  };
  const on = { enabled: true, disabledReason: null, disabledAt: null };
  await change(ctx, current, current.kind === "programmatic" ? { ...secrets, ...on } : secrets, "webhook.secretRotated");
  return { secret, previousSecretExpires };
}

/** The site's own endpoint, or a 404. */
export async function requireWebhooks(ctx: Ctx): Promise<WebhookRow> {
  const row = await getWebhooks(ctx);
  if (!row) throw notFound("No webhooks are configured; create them with POST first");
  return row;
}

export async function requireEndpoint(ctx: Ctx, id: string): Promise<WebhookRow> {
  const [row] = await ctx.db
    .select()
    .from(webhookEndpoints)
    .where(ownRow(ctx, webhookEndpoints, id));
  if (!row) throw notFound("Webhook not found");
  return row;
}

type ChangeType = `webhook.${"created" | "updated" | "deleted" | "secretRotated"}`;

async function change(ctx: Ctx, current: WebhookRow, columns: Partial<WebhookRow>, type: ChangeType): Promise<WebhookRow> {
  const next: WebhookRow = { ...current, ...columns, ...nextVersion(ctx, current) };
  const update = updateRow(ctx, webhookEndpoints, current, next);
  await commitIfUnchanged(ctx, update, changeEvent(type, next));
  return next;
}

async function newEndpoint(
  ctx: Ctx,
  columns: Pick<WebhookRow, "kind" | "url" | "services" | "enabled">,
): Promise<{ row: WebhookRow; secret: string }> {
  const secret = newWebhookSecret();
  const row: WebhookRow = {
    ...newRow(ctx),
    disabledReason: null,
    disabledAt: null,
    ...columns,
    secretSealed: await seal(ctx.env, SECRET_PURPOSE, secret),
    previousSecretSealed: null,
    previousSecretExpires: null,
  };
  return { row, secret };
}

/** Checks the count in the insert itself, so that concurrent requests can't exceed the limit. */
function insertUnderLimit(ctx: Ctx, row: WebhookRow, max: number) {
  const programmatic = and(eq(webhookEndpoints.siteId, ctx.siteId), eq(webhookEndpoints.kind, "programmatic"));
  const { id, siteId, kind, url, services, enabled, secretSealed, created, modified, version } = row;
  return ctx.db.insert(webhookEndpoints).select(
    ctx.db
      .select({
        id: sql<string>`${id}`.as("id"),
        siteId: sql<string>`${siteId}`.as("site_id"),
        kind: sql<typeof kind>`${kind}`.as("kind"),
        url: sql<string>`${url}`.as("url"),
        services: sql<WebhookService[]>`${JSON.stringify(services)}`.as("services"),
        enabled: sql<boolean>`${enabled ? 1 : 0}`.as("enabled"),
        disabledReason: sql<null>`null`.as("disabled_reason"),
        disabledAt: sql<null>`null`.as("disabled_at"),
        secretSealed: sql<string>`${secretSealed}`.as("secret_sealed"),
        previousSecretSealed: sql<null>`null`.as("previous_secret_sealed"),
        previousSecretExpires: sql<null>`null`.as("previous_secret_expires"),
        created: sql<number>`${created}`.as("created"),
        modified: sql<number>`${modified}`.as("modified"),
        version: sql<number>`${version}`.as("version"),
      })
      .from(sites)
      .where(and(eq(sites.id, ctx.siteId), sql`(select ${count()} from ${webhookEndpoints} where ${programmatic}) < ${max}`)),
  );
}

function servicesIn(subscriptions: WebhookSettings["webhookSubscriptions"]): WebhookService[] {
  const isOn = (service: WebhookService) =>
    Array.isArray(subscriptions) ? subscriptions.includes(service) : (subscriptions[service] ?? false);
  return WEBHOOK_SERVICES.filter(isOn);
}

function changeEvent(type: ChangeType, row: WebhookRow): NewEvent {
  return { type, resource: `webhook/${row.id}`, data: toWebhookEvent(row) };
}
