import { expect, test, vi } from "vitest";
import { backupPolicy, expiredBackups } from "./backup-retention.ts";

const DAY = 86_400_000;
/** A Monday. */
const MONDAY = Date.UTC(2026, 10, 23, 3);
const POLICY = { daily: 7, weekly: 4, hour: 3 };

const backup = (daysAgo: number, status: "complete" | "failed" | "exporting" = "complete") => ({
  id: `${status} ${daysAgo}`,
  created: MONDAY - daysAgo * DAY,
  status,
});

function kept(backups: ReturnType<typeof backup>[], policy: Parameters<typeof expiredBackups>[1] = POLICY): string[] {
  const expired = expiredBackups(backups, policy, MONDAY);
  return backups.filter((each) => !expired.includes(each)).map(({ id }) => id);
}

test("the retention keeps the last backup of seven days and of four weeks", () => {
  const nightly = Array.from({ length: 60 }, (_, daysAgo) => backup(daysAgo));
  // This Monday is this week's last one so far, then come the Sundays before.
  expect(kept(nightly)).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 15].map((daysAgo) => `complete ${daysAgo}`));
});

test("the retention counts days and weeks that have a backup, so that a site whose backups fail keeps its last ones", () => {
  const old = [100, 101, 140].map((daysAgo) => backup(daysAgo));
  expect(kept([backup(0, "failed"), backup(6, "failed"), backup(8, "failed"), ...old])).toEqual([
    "failed 0",
    "failed 6",
    "complete 100",
    "complete 101",
    "complete 140",
  ]);
});

test("the retention never deletes the only complete backup, or one that is being written", () => {
  expect(kept([backup(0, "exporting"), backup(9), backup(10)], { daily: 0, weekly: 1, hour: 0 })).toEqual(["exporting 0", "complete 9"]);
  expect(kept([backup(400)])).toEqual(["complete 400"]);
});

test("without a policy, nothing is backed up by night, and nothing deleted", () => {
  expect(backupPolicy({ TIFO_BACKUP_DAILY: "0", TIFO_BACKUP_WEEKLY: "0", TIFO_BACKUP_HOUR: "3" })).toBeNull();
  expect(kept([backup(0), backup(500), backup(600, "failed")], null)).toHaveLength(3);
});

test("a policy with typing errors is the default one, so that it deletes nothing that was to be kept", () => {
  vi.spyOn(console, "error").mockReturnValue();
  expect(backupPolicy({ TIFO_BACKUP_DAILY: "14 days", TIFO_BACKUP_WEEKLY: "no", TIFO_BACKUP_HOUR: "" })).toEqual({
    daily: 7,
    weekly: 4,
    hour: 3,
  });
});
