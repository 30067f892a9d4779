import { expect, test } from "vitest";
import type { AlertRow } from "#db/schema/operations.ts";
import { nextAlert } from "./alert-rules.ts";

const MINUTE = 60_000;
const LIMIT = 100;

/** Looks at these figures, one a minute; returns for each whether the alert is on, and the times at which it changed. */
function watch(values: number[]): { raised: boolean[]; changes: number } {
  let row: AlertRow | undefined;
  let changes = 0;
  const raised = values.map((value, minute) => {
    const next: AlertRow = nextAlert("outboxAge", row && { ...row, isSent: true }, value, LIMIT, minute * MINUTE);
    if (!next.isSent) changes++;
    row = next;
    return next.isRaised;
  });
  return { raised, changes };
}

test("an alert is raised once two runs in succession find its figure at the limit", () => {
  expect(watch([100, 99, 100, 99]).changes).toBe(0);
  expect(watch([99, 100, 100, 500]).raised).toEqual([false, false, true, true]);
});

test("an alert is resolved once its figure has been below four fifths of the limit for five minutes", () => {
  const raised = watch([100, 100, 79, 79, 79, 79, 79, 79]).raised;
  expect(raised).toEqual([false, true, true, true, true, true, true, false]);
  expect(watch([100, 100, 80, 80, 80, 80, 80, 80, 80, 80]).raised.at(-1)).toBe(true);
});

test("a figure that wavers around its limit calls once, however long it does", () => {
  const wavering = Array.from({ length: 200 }, (_, minute) => [120, 95, 60, 60][minute % 4] ?? 0);
  expect(watch([100, 100, ...wavering]).changes).toBe(1);
});

test("an alert whose limit is one is resolved when nothing is left", () => {
  let row: AlertRow | undefined;
  for (let minute = 0; minute < 2; minute++) row = nextAlert("deadLetters", row, 3, 1, minute * MINUTE);
  expect(row?.isRaised).toBe(true);
  for (let minute = 2; minute < 8; minute++) row = nextAlert("deadLetters", row, 0, 1, minute * MINUTE);
  expect(row).toMatchObject({ isRaised: false, changed: 7 * MINUTE, isSent: false });
});
