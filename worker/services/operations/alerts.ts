import { and, eq } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import type { Db } from "#db/client.ts";
import { type AlertRow, alerts } from "#db/schema/operations.ts";
import { writeOperationPoints } from "#worker/integrations/analytics-engine.ts";
import { deriveBits, secretsOf } from "#worker/lib/crypto/crypto.ts";
import { newId } from "#worker/lib/ids.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { newDeadline, sendEvent, type Target } from "#worker/services/webhooks/dispatch.ts";
import { signingKeys } from "#worker/services/webhooks/signature.ts";
import { ALERT_NAMES, ALERTS, hasAlerts, hasEmail, hasWebhook, limitOf, nextAlert } from "./alert-rules.ts";
import { readAlertFigures } from "./alert-figures.ts";
import { type AlertNews, emailAlert } from "./alert-email.ts";
import type { AlertAttempt, AlertReport } from "./alert-schemas.ts";

const PURPOSE = "operator alerts";

/**
 * Compares the deployment's figures with their limits. For each alert that is raised or resolved, calls the operator's webhook and sends an
 * email, each until it is accepted. Costs nothing unless one of them or a dataset is configured. Safe to repeat: the call of a change always
 * has the same id, and an email is only sent again if the service didn't accept it.
 */
export async function watchAlerts({ env, db, now }: Pick<Ctx, "env" | "db" | "now">): Promise<void> {
  const hasDataset = Reflect.has(env, "OPERATIONS");
  if (!hasAlerts(env) && !hasDataset) return;
  const { figures, states } = await readAlertFigures(env, now);
  if (hasDataset) writeOperationPoints(env, figures);
  if (!hasAlerts(env)) return;
  const next = ALERT_NAMES.flatMap((name) => {
    const limit = limitOf(env, name);
    return limit === null
      ? []
      : [
          withoutMissing(
            env,
            nextAlert(
              name,
              states.find((state) => state.name === name),
              figures[name],
              limit,
              now,
            ),
          ),
        ];
  });
  await batchAll(
    db,
    next.map((row) => db.insert(alerts).values(row).onConflictDoUpdate({ target: alerts.name, set: row })),
  );
  const target = await readTarget(env);
  for (const row of next) await announce(env, db, target, row);
}

/** A change is never announced where it had no recipient: one who is set later learns of later changes. */
function withoutMissing(env: Env, row: AlertRow): AlertRow {
  return { ...row, isSent: row.isSent || !hasWebhook(env), isEmailed: row.isEmailed || !hasEmail(env) };
}

/** The configuration of the alerts, and what they are now. Only for the operator. */
export async function getAlerts(ctx: Ctx): Promise<z.output<typeof AlertReport>> {
  await ctx.caller();
  const [{ figures, states }, [secret]] = await Promise.all([readAlertFigures(ctx.env, ctx.now), secretTexts(ctx.env)]);
  return {
    url: hasWebhook(ctx.env) ? ctx.env.TIFO_ALERT_URL : null,
    email: hasEmail(ctx.env) ? ctx.env.TIFO_ALERT_EMAIL : null,
    signingSecret: secret,
    alerts: ALERT_NAMES.map((name) => {
      const state = states.find((row) => row.name === name);
      return {
        name,
        unit: ALERTS[name].unit,
        value: figures[name],
        limit: limitOf(ctx.env, name),
        isRaised: state?.isRaised ?? false,
        changed: state?.changed ?? null,
        isSent: state?.isSent ?? true,
        problem: state?.problem ?? null,
        isEmailed: state?.isEmailed ?? true,
        emailProblem: state?.emailProblem ?? null,
      };
    }),
  };
}

/** Calls the webhook and sends an email that say that it is a test. Only for the operator. */
export async function testAlerts(ctx: Ctx): Promise<z.output<typeof AlertAttempt>> {
  await ctx.caller();
  const data = { name: "test", unit: "none", value: 0, limit: 0, since: ctx.now, runbook: RUNBOOKS };
  const event: AlertEvent = { id: newId(ctx.now), type: "alert.test", created: ctx.now, data };
  const sent = hasEmail(ctx.env) ? await emailAlert(ctx.env, event) : null;
  const email = sent && { delivered: sent.error === null, error: sent.error };
  if (!hasWebhook(ctx.env)) return { delivered: false, status: null, error: "TIFO_ALERT_URL isn't set", duration: 0, email };
  return { ...(await send(ctx.env, await readTarget(ctx.env), event)), email };
}

/** Notifies the operator of an alert's last change, where that hasn't succeeded yet. The next run repeats what fails. */
async function announce(env: Env, db: Db, target: Target, row: AlertRow): Promise<void> {
  const { name, isRaised, changed, value } = row;
  const known = ALERT_NAMES.find((each) => each === name);
  if (!known || (row.isSent && row.isEmailed)) return;
  const data = { name, unit: ALERTS[known].unit, value, limit: limitOf(env, known) ?? 0, since: changed, runbook: RUNBOOKS };
  const type = isRaised ? "alert.raised" : "alert.resolved";
  const event: AlertEvent = { id: `${name}-${changed}`, type, created: changed, data };
  const [call, email] = await Promise.all([
    row.isSent ? undefined : send(env, target, event),
    row.isEmailed ? undefined : emailAlert(env, event),
  ]);
  await db
    .update(alerts)
    .set({
      ...(call && { isSent: call.delivered, problem: call.error }),
      ...(email && { isEmailed: email.final, emailProblem: email.error }),
    })
    // It may have changed again.
    .where(and(eq(alerts.name, name), eq(alerts.changed, changed)));
}

interface AlertEvent extends AlertNews {
  id: string;
}

/** Sends it as a webhook's event is sent: signed, with a timeout, and only to public addresses. */
async function send(env: Env, target: Target, event: AlertEvent): Promise<Omit<z.output<typeof AlertAttempt>, "email">> {
  const eventData = JSON.stringify({ ...event, resource: `alert/${event.data.name}` });
  const queued = { id: event.id, type: event.type, resource: `alert/${event.data.name}`, service: "alerts", eventData };
  const attempt = await sendEvent(env, target, { ...queued, account: null, method: null, originPath: null }, newDeadline());
  return { delivered: attempt.error === null, status: attempt.status, error: attempt.error, duration: attempt.duration };
}

async function readTarget(env: Env): Promise<Target> {
  const [keys, ...previous] = await Promise.all((await secretTexts(env)).map(signingKeys));
  if (!keys) throw new Error("There is no secret");
  return { url: env.TIFO_ALERT_URL, enabled: true, version: 1, keys, previous: previous.map((old) => ({ keys: old, expires: Infinity })) };
}

/** Derived from the deployment's secret, or secrets while it is rotated, in the form of a webhook's. */
async function secretTexts(env: Env): Promise<[string, ...string[]]> {
  const [current, ...previous] = secretsOf(env);
  const textOf = async (secret: string) => `whsec_${Buffer.from(await deriveBits(secret, PURPOSE)).toString("base64")}`;
  return [await textOf(current), ...(await Promise.all(previous.map(textOf)))];
}

/** The section of the guide that says what to do. */
const RUNBOOKS = "/guides/operations#runbooks";
