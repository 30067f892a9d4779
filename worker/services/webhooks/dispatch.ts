import { and, eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { webhookEndpoints, type WebhookRow } from "#db/schema/index.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import type { Attempt, QueuedEvent } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { publicStatusOf } from "#worker/integrations/public-host.ts";
import { open } from "#worker/lib/crypto/crypto.ts";
import { Failure, hasMessage } from "#worker/lib/errors.ts";
import { signEventData, type SigningKeys, signingKeys, standardHeaders } from "./signature.ts";
import { SharedDeadline } from "#worker/lib/time/with-timeout.ts";
import { toWebhookEvent } from "./endpoint-schemas.ts";
import { whereVersion, commitIfUnchanged, nextVersion } from "#worker/services/core/context.ts";
import { servicesOf } from "#worker/services/event-catalogue/event-catalogue.ts";
import { asSystem } from "#worker/services/core/system.ts";

/** Keeps the signing secrets apart from whatever else is sealed. */
export const SECRET_PURPOSE = "webhook";

const TIMEOUT_MS = 15_000;

const PreviousSecrets = z.array(z.object({ secret: z.string(), expires: z.number() }));

/** A secret that was rotated, good until `expires` (ms since 1970 UTC). */
export type PreviousSecret = z.infer<typeof PreviousSecrets>[number];

/** What sending needs to know of an endpoint. */
export interface Target {
  url: string;
  enabled: boolean;
  /** That of its settings. */
  version: number;
  keys: SigningKeys;
  /** Of secrets before, which sign too until they expire (ms since 1970 UTC). */
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

/** The secrets of an endpoint that were rotated and still sign at a moment, the last one first. */
export async function previousSecrets(
  env: Env,
  { previousSecretSealed, previousSecretExpires }: WebhookRow,
  now: number,
): Promise<PreviousSecret[]> {
  if (previousSecretSealed === null || (previousSecretExpires ?? 0) <= now) return [];
  const secrets = PreviousSecrets.parse(JSON.parse(await open(env, SECRET_PURPOSE, previousSecretSealed)));
  return secrets.filter(({ expires }) => expires > now);
}

/** The event as a subscriber of these services gets it; undefined where none of them tells of it. */
export function toQueued(entry: LogEntry, subscribed: readonly string[]): QueuedEvent | undefined {
  const service = servicesOf(entry.type).find((name) => subscribed.includes(name));
  if (service === undefined) return undefined;
  const { id, type, created, sequence, previousSequence, resource, origin } = entry;
  const [method = null, originPath = null] = origin?.split(" ") ?? [];
  const data: unknown = JSON.parse(entry.data);
  const eventData = JSON.stringify({ id, type, created, sequence, previousSequence, resource, data });
  return { id, type, resource, service, eventData, account: accountOf(entry, data), method, originPath };
}

/** The body of a delivery. The text of `eventData` goes in as it stands, since that is what was signed. */
export async function payloadText(
  { url, keys }: Pick<Target, "url" | "keys">,
  { account, eventData, method, originPath, service }: Omit<QueuedEvent, "id" | "type" | "resource">,
): Promise<string> {
  const rest = { method, originPath, service, signature: await signEventData(keys, eventData), webhookUrl: url };
  return `{"account":${JSON.stringify(account)},"eventData":${eventData},${JSON.stringify(rest).slice(1)}`;
}

/** For the sends of one endpoint. */
export function newDeadline(): SharedDeadline {
  return new SharedDeadline(TIMEOUT_MS);
}

/** Sends one event and tells how it went. An answer of 200 to 299 has taken it; a redirect hasn't. */
export async function sendEvent(env: Env, target: Target, event: QueuedEvent, deadline: SharedDeadline): Promise<Attempt> {
  const at = Date.now();
  const body = await payloadText(target, event);
  const signing = [target.keys, ...target.previous.flatMap(({ keys, expires }) => (expires > at ? [keys] : []))];
  const signed = await standardHeaders(signing, event.id, at, body);
  const headers = { "Content-Type": "application/json", "User-Agent": "Tifo-Webhooks", ...signed };
  try {
    const status = await publicStatusOf(env, target.url, { method: "POST", headers, body }, deadline);
    return { at, duration: Date.now() - at, status, error: status >= 200 && status < 300 ? null : `Answered ${status}` };
  } catch (error) {
    return { at, duration: Date.now() - at, status: null, error: reasonOf(error, deadline) };
  }
}

/** Switches an endpoint off, once, and tells of it; not where its settings are no longer those of this version. */
export async function disableEndpoint(
  env: Env,
  siteId: string,
  id: string,
  { reason, version, now }: { reason: "gone" | "failing"; version: number; now: number },
): Promise<void> {
  const row = await findEndpoint(env, siteId, id);
  if (!row?.enabled || row.version !== version) return;
  await asSystem({ env, db: createDb(env.DB), now }, siteId, async (ctx) => {
    const next: WebhookRow = { ...row, enabled: false, disabledReason: reason, disabledAt: now, ...nextVersion(ctx, row) };
    const change = ctx.db
      .update(webhookEndpoints)
      .set(next)
      .where(whereVersion(ctx, webhookEndpoints, row));
    await commitIfUnchanged(ctx, change, { type: "webhook.disabled", resource: `webhook/${id}`, data: toWebhookEvent(next) });
  });
}

async function findEndpoint(env: Env, siteId: string, id: string): Promise<WebhookRow | undefined> {
  const own = and(eq(webhookEndpoints.siteId, siteId), eq(webhookEndpoints.id, id));
  const [row] = await createDb(env.DB).select().from(webhookEndpoints).where(own);
  return row;
}

/** The account that an event is about, else the one that caused it. */
function accountOf({ resource, actor }: LogEntry, data: unknown): string | null {
  const [area, id = ""] = resource.split("/");
  if (area === "account") return id;
  if (typeof data === "object" && data !== null && "accountId" in data && typeof data.accountId === "string") return data.accountId;
  const [kind, actorId = null] = actor.split(":");
  return kind === "account" ? actorId : null;
}

function reasonOf(error: unknown, { ms }: SharedDeadline): string {
  if (hasMessage(error, "timeout")) return `No answer within ${ms / 1000} s`;
  return error instanceof Failure ? error.message : "Not reachable";
}
