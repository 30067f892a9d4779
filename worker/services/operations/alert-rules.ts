import type { AlertRow } from "#db/schema/operations.ts";
import { numberOf } from "#worker/lib/variables.ts";

type Settings = Pick<
  Env,
  | "TIFO_ALERT_ERROR_RATE"
  | "TIFO_ALERT_OUTBOX_SECONDS"
  | "TIFO_ALERT_DEAD_LETTERS"
  | "TIFO_ALERT_LATE_SECONDS"
  | "TIFO_ALERT_DATABASE_BYTES"
  | "TIFO_ALERT_FAILED_BACKUPS"
>;

/** What can be alerted on: the variable with the limit, and the unit of both figure and limit. */
export const ALERTS = {
  errorRate: { variable: "TIFO_ALERT_ERROR_RATE", unit: "share" },
  outboxAge: { variable: "TIFO_ALERT_OUTBOX_SECONDS", unit: "seconds" },
  deadLetters: { variable: "TIFO_ALERT_DEAD_LETTERS", unit: "messages" },
  lateActions: { variable: "TIFO_ALERT_LATE_SECONDS", unit: "seconds" },
  databaseSize: { variable: "TIFO_ALERT_DATABASE_BYTES", unit: "bytes" },
  failedBackups: { variable: "TIFO_ALERT_FAILED_BACKUPS", unit: "backups" },
} as const satisfies Record<string, { variable: keyof Settings; unit: string }>;

export type AlertName = keyof typeof ALERTS;
export type AlertFigures = Record<AlertName, number>;

export const ALERT_NAMES = Object.keys(ALERTS).filter((name): name is AlertName => name in ALERTS);

/** Two runs of the cron must find a figure at its limit before the alert is raised. */
const RAISE_AFTER_MS = 60_000;
/** It is resolved once the figure has been well below its limit for this long: one that wavers around it doesn't call every minute. */
const RESOLVE_AFTER_MS = 300_000;
const RESOLVE_BELOW = 0.8;

type Recipients = Pick<Env, "TIFO_ALERT_URL" | "TIFO_ALERT_EMAIL">;

/** Whether anybody is notified of alerts. */
export function hasAlerts(env: Recipients): boolean {
  return hasWebhook(env) || hasEmail(env);
}

export function hasWebhook(env: Recipients): boolean {
  return Boolean(env.TIFO_ALERT_URL);
}

export function hasEmail(env: Recipients): boolean {
  return Boolean(env.TIFO_ALERT_EMAIL);
}

/** The limit of an alert; null if it is off. */
export function limitOf(env: Settings, name: AlertName): number | null {
  const limit = numberOf(env, ALERTS[name].variable);
  return limit > 0 ? limit : null;
}

/** The state of an alert after another look at its figure. */
export function nextAlert(name: AlertName, known: AlertRow | undefined, value: number, limit: number, now: number): AlertRow {
  const row = known ?? {
    name,
    isRaised: false,
    changed: now,
    crossing: null,
    value,
    isSent: true,
    problem: null,
    isEmailed: true,
    emailProblem: null,
  };
  const isCrossing = row.isRaised ? value < limit * RESOLVE_BELOW : value >= limit;
  if (!isCrossing) return { ...row, value, crossing: null };
  const crossing = row.crossing ?? now;
  if (now - crossing < (row.isRaised ? RESOLVE_AFTER_MS : RAISE_AFTER_MS)) return { ...row, value, crossing };
  const announced = { isSent: false, problem: null, isEmailed: false, emailProblem: null };
  return { ...row, value, isRaised: !row.isRaised, changed: now, crossing: null, ...announced };
}
