import { and, eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import { webhookEndpoints, type WebhookRow } from "#db/schema/webhooks.ts";
import type { Attempt, QueuedEvent } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { publicStatusOf } from "#worker/integrations/public-host.ts";
import { open } from "#worker/lib/crypto/crypto.ts";
import { Failure } from "#worker/lib/errors.ts";
import { signEventData, type SigningKeys, signingKeys, standardHeaders } from "./signature.ts";
import { isTimeout, SharedDeadline } from "#worker/lib/time/with-timeout.ts";
import { toWebhookEvent } from "./endpoint-schemas.ts";
import { commitIfUnchanged, nextVersion, updateRow } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";

/** The purpose under which signing secrets are sealed. */
export const SECRET_PURPOSE = "webhook";

const TIMEOUT_MS = 15_000;

const PreviousSecrets = z.array(z.object({ secret: z.string(), expires: z.number() }));

/** A rotated secret, valid until `expires` (ms since 1970 UTC). */
export type PreviousSecret = z.infer<typeof PreviousSecrets>[number];

/** The settings of an endpoint that sending needs. */
export interface Target {
  url: string;
  enabled: boolean;
  /** Version of the settings. */
  version: number;
  keys: SigningKeys;
  /** Previous secrets, which also sign until they expire (ms since 1970 UTC). */
  previous: { keys: SigningKeys; expires: number }[];
}

export async function readTarget(env: Env, siteId: string, id: string): Promise<Target | undefined> {
  const row = await findEndpoint(env, siteId, id);
  if (!row) return undefined;
  const { url, enabled, version, secretSealed } = row;
  const [keys, previous] = await Promise.all([
    open(env, SECRET_PURPOSE, secretSealed).then(signingKeys),
    previousSecrets(env, row, Date.now()),
  ]);
  const signing = previous.map(async ({ secret, expires }) => ({ keys: await signingKeys(secret), expires }));
  return { url, enabled, version, keys, previous: await Promise.all(signing) };
}

/** An endpoint's rotated secrets that still sign, latest first. */
export async function previousSecrets(
  env: Env,
  { previousSecretSealed, previousSecretExpires }: WebhookRow,
  now: number,
): Promise<PreviousSecret[]> {
  if (previousSecretSealed === null || (previousSecretExpires ?? 0) <= now) return [];
  const secrets = PreviousSecrets.parse(JSON.parse(await open(env, SECRET_PURPOSE, previousSecretSealed)));
  return secrets.filter(({ expires }) => expires > now);
}

/** The body of a delivery. The text of `eventData` is inserted unchanged, because it is what was signed. */
export async function payloadText(
  { url, keys }: Pick<Target, "url" | "keys">,
  { account, eventData, method, originPath, service }: Omit<QueuedEvent, "id" | "type" | "resource">,
): Promise<string> {
  const rest = { method, originPath, service, signature: await signEventData(keys, eventData), webhookUrl: url };
  return `{"account":${JSON.stringify(account)},"eventData":${eventData},${JSON.stringify(rest).slice(1)}`;
}

/** The deadline shared by one endpoint's deliveries. */
export function newDeadline(): SharedDeadline {
  return new SharedDeadline(TIMEOUT_MS);
}

/** Sends one event and returns the attempt. A status of 200 to 299 counts as delivered; a redirect doesn't. */
export async function sendEvent(env: Env, target: Target, event: QueuedEvent, deadline: SharedDeadline): Promise<Attempt> {
  const at = Date.now();
  const body = await payloadText(target, event);
  const signing = [target.keys, ...target.previous.flatMap(({ keys, expires }) => (expires > at ? [keys] : []))];
  const signed = await standardHeaders(signing, event.id, at, body);
  const headers = { "Content-Type": "application/json", "User-Agent": "Tifo-Webhooks", ...signed };
  try {
    const { status, excerpt } = await publicStatusOf(env, target.url, { method: "POST", headers, body }, deadline);
    const attempt = { at, duration: Date.now() - at, status };
    if (status >= 200 && status < 300) return { ...attempt, error: null };
    return { ...attempt, error: `Responded with ${status}`, ...(excerpt !== null && { response: excerpt }) };
  } catch (error) {
    return { at, duration: Date.now() - at, status: null, error: reasonOf(error, deadline) };
  }
}

/** Disables an endpoint once, with an event, unless its settings have changed since this version. */
export async function disableEndpoint(
  env: Env,
  siteId: string,
  id: string,
  { reason, version, now }: { reason: "gone" | "failing"; version: number; now: number },
): Promise<void> {
  const row = await findEndpoint(env, siteId, id);
  if (!row?.enabled || row.version !== version) return;
  await asSystem({ env, db: siteDb(env, siteId), now }, siteId, async (ctx) => {
    const next: WebhookRow = { ...row, enabled: false, disabledReason: reason, disabledAt: now, ...nextVersion(ctx, row) };
    const change = updateRow(ctx, webhookEndpoints, row, next);
    await commitIfUnchanged(ctx, change, { type: "webhook.disabled", resource: `webhook/${id}`, data: toWebhookEvent(next) });
  });
}

async function findEndpoint(env: Env, siteId: string, id: string): Promise<WebhookRow | undefined> {
  const own = and(eq(webhookEndpoints.siteId, siteId), eq(webhookEndpoints.id, id));
  const [row] = await siteDb(env, siteId).select().from(webhookEndpoints).where(own);
  return row;
}

function reasonOf(error: unknown, { ms }: SharedDeadline): string {
  if (isTimeout(error)) return `No response within ${ms / 1000} s`;
  return error instanceof Failure ? error.message : "Not reachable";
}
