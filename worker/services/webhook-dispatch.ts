import { and, eq } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb } from "../../db/client.ts";
import { webhookEndpoints } from "../../db/schema/index.ts";
import type { LogEntry } from "../durable-objects/site-log.protocol.ts";
import type { Attempt, QueuedEvent } from "../durable-objects/webhook-endpoint.protocol.ts";
import { callPublic } from "../integrations/public-host.ts";
import { open } from "../lib/crypto.ts";
import { Failure, hasMessage } from "../lib/errors.ts";
import { signEventData, standardHeaders } from "../lib/webhook-signature.ts";
import { toWebhookEvent, type WebhookRow } from "../routes/webhooks/endpoint-schemas.ts";
import { asRead, commitIfCurrent, nextVersion } from "./context.ts";
import { servicesOf } from "./event-services.ts";
import { asSystem } from "./system.ts";

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
  secret: string;
  /** Those before it that still sign too. */
  previous: PreviousSecret[] | undefined;
}

export async function readTarget(env: Env, siteId: string, id: string): Promise<Target | undefined> {
  const row = await findEndpoint(env, siteId, id);
  if (!row) return undefined;
  const { url, enabled, secretSealed } = row;
  const secret = await open(env, SECRET_PURPOSE, secretSealed);
  return { url, enabled, secret, previous: await previousSecrets(env, row, Date.now()) };
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
export function payloadText(target: Pick<Target, "url" | "secret">, event: Omit<QueuedEvent, "id" | "type" | "resource">): string {
  const { account, eventData, method, originPath, service } = event;
  const rest = { method, originPath, service, signature: signEventData(target.secret, eventData), webhookUrl: target.url };
  return `{"account":${JSON.stringify(account)},"eventData":${eventData},${JSON.stringify(rest).slice(1)}`;
}

/** Sends one event and tells how it went. An answer of 200 to 299 has taken it; a redirect hasn't. */
export async function sendEvent(env: Env, target: Target, event: QueuedEvent): Promise<Attempt> {
  const at = Date.now();
  const body = payloadText(target, event);
  const overlapping = target.previous?.flatMap(({ secret, expires }) => (expires > at ? [secret] : [])) ?? [];
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Tifo-Webhooks",
    ...standardHeaders([target.secret, ...overlapping], event.id, at, body),
  };
  const outcome = await callPublic(env, target.url, { method: "POST", headers, body }, { timeout: TIMEOUT_MS, discard: true }).then(
    ({ status }) => ({ status, error: status >= 200 && status < 300 ? null : `Answered ${status}` }),
    (error: unknown) => ({ status: null, error: reasonOf(error) }),
  );
  return { at, duration: Date.now() - at, ...outcome };
}

/** Switches an endpoint off, once, and tells of it. */
export async function disableEndpoint(env: Env, siteId: string, id: string, reason: "gone" | "failing", now: number): Promise<void> {
  const row = await findEndpoint(env, siteId, id);
  if (!row?.enabled) return;
  await asSystem({ env, db: createDb(env.DB), now }, siteId, async (ctx) => {
    const next: WebhookRow = { ...row, enabled: false, disabledReason: reason, disabledAt: now, ...nextVersion(ctx, row) };
    const change = ctx.db
      .update(webhookEndpoints)
      .set(next)
      .where(asRead(ctx, webhookEndpoints, row));
    await commitIfCurrent(ctx, change, { type: "webhook.disabled", resource: `webhook/${id}`, data: toWebhookEvent(next) });
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

function reasonOf(error: unknown): string {
  if (hasMessage(error, "timeout")) return `No answer within ${TIMEOUT_MS / 1000} s`;
  return error instanceof Failure ? error.message : "Not reachable";
}
