import { logError } from "./log.ts";

interface NumberRange {
  /** What applies instead of a value that isn't valid; wrangler.toml has the same. */
  fallback: number;
  /** The least valid value. */
  least: number;
  /** The greatest valid value, if there is one. */
  most?: number;
  /** Whether it may be a fraction. */
  isShare?: boolean;
}

/** The variables of wrangler.toml, where each is explained, that are numbers. */
export const NUMBERS = {
  TIFO_HEARTBEAT_SECONDS: { fallback: 30, least: 1 },
  TIFO_RELAY_CAPACITY: { fallback: 1500, least: 1 },
  TIFO_SOCKETS_PER_DEVICE: { fallback: 10, least: 0 },
  TIFO_SOCKETS_PER_ACCOUNT: { fallback: 20, least: 0 },
  TIFO_SOCKETS_PER_ADDRESS: { fallback: 200, least: 0 },
  TIFO_DEVICES_PER_ADDRESS: { fallback: 1000, least: 0 },
  TIFO_EVENT_RETENTION_DAYS: { fallback: 30, least: 1 },
  TIFO_EVENT_RETENTION_BYTES: { fallback: 1_000_000_000, least: 1 },
  TIFO_CHAT_RETENTION_DAYS: { fallback: 30, least: 1 },
  TIFO_POLL_RETENTION_DAYS: { fallback: 400, least: 0 },
  TIFO_BACKUP_DAILY: { fallback: 7, least: 0 },
  TIFO_BACKUP_WEEKLY: { fallback: 4, least: 0 },
  TIFO_BACKUP_HOUR: { fallback: 3, least: 0, most: 23 },
  TIFO_LOG_LINES: { fallback: 200, least: 0 },
  TIFO_ALERT_ERROR_RATE: { fallback: 0.02, least: 0, most: 1, isShare: true },
  TIFO_ALERT_OUTBOX_SECONDS: { fallback: 120, least: 0 },
  TIFO_ALERT_DEAD_LETTERS: { fallback: 1, least: 0 },
  TIFO_ALERT_LATE_SECONDS: { fallback: 120, least: 0 },
  TIFO_ALERT_DATABASE_BYTES: { fallback: 7_000_000_000, least: 0 },
  TIFO_ALERT_FAILED_BACKUPS: { fallback: 1, least: 0 },
  TIFO_SANDBOXES: { fallback: 0, least: 0 },
  TIFO_SANDBOX_WORK: { fallback: 16, least: 0 },
  TIFO_STRIPE_TIMEOUT: { fallback: 10_000, least: 1 },
} as const satisfies { readonly [Name in keyof Env]?: NumberRange };

export type NumberVariable = keyof typeof NUMBERS;

const RANGES: Readonly<Record<NumberVariable, NumberRange>> = NUMBERS;

/** Variables whose invalid value this isolate has logged. */
const logged = new Set<NumberVariable>();

/** A number that the operator has set, or its default if that isn't valid: a typing error must not delete what was to be kept, or admit nobody. */
export function numberOf<Name extends NumberVariable>(env: Pick<Env, Name>, name: Name): number {
  const problem = numberProblem(name, env[name]);
  if (problem === undefined) return Number(env[name]);
  if (!logged.has(name)) logError("variable_invalid", problem, { variable: name });
  logged.add(name);
  return RANGES[name].fallback;
}

/** Why the value of a variable isn't valid, in a sentence; undefined if it is. */
export function numberProblem(name: NumberVariable, value: string | number): string | undefined {
  const { least, most = Infinity, isShare = false } = RANGES[name];
  const text = String(value).trim();
  const number = Number(text);
  if (text !== "" && number >= least && number <= most && (isShare || Number.isSafeInteger(number))) return undefined;
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  return `${name} must be a ${isShare ? "" : "whole "}number ${range}, not "${text}"`;
}
