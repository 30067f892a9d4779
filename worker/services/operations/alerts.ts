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
import { ALERT_NAMES, ALERTS, limitOf, nextAlert } from "./alert-rules.ts";
import { readAlertFigures } from "./alert-figures.ts";
import type { AlertAttempt, AlertData, AlertReport } from "./alert-schemas.ts";

const PURPOSE = "operator alerts";

/**
 * Compares the deployment's figures with their limits, and calls the operator's webhook for each alert that is raised or resolved, until it
 * accepts. Costs nothing unless a webhook or a dataset is configured. Safe to repeat: the call of a change always has the same id.
 */
export async function watchAlerts({ env, db, now }: Pick<Ctx, "env" | "db" | "now">): Promise<void> {
  const hasDataset = Reflect.has(env, "OPERATIONS");
  if (env.TIFO_ALERT_URL === "" && !hasDataset) return;
  const { figures, states } = await readAlertFigures(env, db, now);
  if (hasDataset) writeOperationPoints(env, figures);
  if (env.TIFO_ALERT_URL === "") return;
  const next = ALERT_NAMES.flatMap((name) => {
    const limit = limitOf(env, name);
    return limit === null
      ? []
      : [
          nextAlert(
            name,
            states.find((state) => state.name === name),
            figures[name],
            limit,
            now,
          ),
        ];
  });
  await batchAll(
    db,
    next.map((row) => db.insert(alerts).values(row).onConflictDoUpdate({ target: alerts.name, set: row })),
  );
  const target = await readTarget(env);
  for (const row of next) if (!row.isSent) await announce(env, db, target, row);
}

/** The configuration of the alerts, and what they are now. Only for the operator. */
export async function getAlerts(ctx: Ctx): Promise<z.output<typeof AlertReport>> {
  await ctx.caller();
  const [{ figures, states }, [secret]] = await Promise.all([readAlertFigures(ctx.env, ctx.db, ctx.now), secretTexts(ctx.env)]);
  return {
    url: ctx.env.TIFO_ALERT_URL === "" ? null : ctx.env.TIFO_ALERT_URL,
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
      };
    }),
  };
}

/** Calls the webhook with an alert that says that it is a test. Only for the operator. */
export async function testAlerts(ctx: Ctx): Promise<z.output<typeof AlertAttempt>> {
  await ctx.caller();
  if (ctx.env.TIFO_ALERT_URL === "") return { delivered: false, status: null, error: "TIFO_ALERT_URL isn't set", duration: 0 };
  const data = { name: "test", unit: "none", value: 0, limit: 0, since: ctx.now, runbook: RUNBOOKS };
  return send(ctx.env, await readTarget(ctx.env), { id: newId(ctx.now), type: "alert.test", created: ctx.now, data });
}

async function announce(env: Env, db: Db, target: Target, { name, isRaised, changed, value }: AlertRow): Promise<void> {
  const known = ALERT_NAMES.find((each) => each === name);
  if (!known) return;
  const data = { name, unit: ALERTS[known].unit, value, limit: limitOf(env, known) ?? 0, since: changed, runbook: RUNBOOKS };
  const type = isRaised ? "alert.raised" : "alert.resolved";
  const { delivered, error } = await send(env, target, { id: `${name}-${changed}`, type, created: changed, data });
  await db
    .update(alerts)
    .set({ isSent: delivered, problem: error })
    // It may have changed again.
    .where(and(eq(alerts.name, name), eq(alerts.changed, changed)));
}

interface AlertEvent {
  id: string;
  type: "alert.raised" | "alert.resolved" | "alert.test";
  created: number;
  data: z.output<typeof AlertData>;
}

/** Sends it as a webhook's event is sent: signed, with a timeout, and only to public addresses. */
async function send(env: Env, target: Target, event: AlertEvent): Promise<z.output<typeof AlertAttempt>> {
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
