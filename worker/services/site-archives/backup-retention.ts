import type { ArchiveRow } from "#db/schema/site-archives.ts";
import { numberOf } from "#worker/lib/variables.ts";

const DAY = 86_400_000;
/** 1970-01-01 was a Thursday; weeks begin on Monday. */
const DAYS_BEFORE_1970_IN_WEEK = 3;

/** How many backups of a site are kept: the last one of each of that many days, and of each of that many weeks, in UTC. */
export interface BackupPolicy {
  daily: number;
  weekly: number;
  /** From which hour (UTC) the night's backups start. */
  hour: number;
}

/** From the variables of wrangler.toml; null if there are no nightly backups. */
export function backupPolicy(env: Pick<Env, "TIFO_BACKUP_DAILY" | "TIFO_BACKUP_WEEKLY" | "TIFO_BACKUP_HOUR">): BackupPolicy | null {
  const policy = {
    daily: numberOf(env, "TIFO_BACKUP_DAILY"),
    weekly: numberOf(env, "TIFO_BACKUP_WEEKLY"),
    hour: numberOf(env, "TIFO_BACKUP_HOUR"),
  };
  return policy.daily + policy.weekly > 0 ? policy : null;
}

/** The backups of one site that the policy doesn't keep, and failed ones of a week ago. Without a policy, none: what there is stays. */
export function expiredBackups<Backup extends Pick<ArchiveRow, "id" | "created" | "status">>(
  backups: Backup[],
  policy: BackupPolicy | null,
  now: number,
): Backup[] {
  if (!policy) return [];
  const complete = backups.filter(({ status }) => status === "complete").sort((one, other) => other.created - one.created);
  const kept = new Set([
    ...latestOfEach(complete, dayOf, policy.daily),
    ...latestOfEach(complete, weekOf, policy.weekly),
    // Whatever the clock says, never the only one.
    ...complete.slice(0, 1),
  ]);
  const isExpired = (backup: Backup) =>
    backup.status === "complete" ? !kept.has(backup) : backup.status === "failed" && backup.created < now - 7 * DAY;
  return backups.filter(isExpired);
}

/** The latest backup of each of the last `count` periods that have one. */
function latestOfEach<Backup extends { created: number }>(backups: Backup[], periodOf: (at: number) => number, count: number): Backup[] {
  const latest = new Map<number, Backup>();
  for (const backup of backups) {
    const period = periodOf(backup.created);
    if (!latest.has(period)) latest.set(period, backup);
  }
  return [...latest.values()].slice(0, count);
}

function dayOf(at: number): number {
  return Math.floor(at / DAY);
}

function weekOf(at: number): number {
  return Math.floor((dayOf(at) + DAYS_BEFORE_1970_IN_WEEK) / 7);
}
