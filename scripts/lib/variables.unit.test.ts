import { expect, test } from "vitest";
import { NUMBERS } from "#worker/lib/variables.ts";
import { readConfig } from "./databases.ts";
import { variableProblems } from "./variables.ts";

test("wrangler.toml has each number with its default", () => {
  const config = readConfig();
  for (const [name, { fallback }] of Object.entries(NUMBERS)) expect(config).toContain(`\n${name} = "${fallback}"\n`);
  expect(variableProblems(config)).toEqual([]);
});

test("numbers may be written without quotes, or be absent", () => {
  expect(variableProblems("TIFO_SANDBOXES = 500 # for the fair\nTIFO_ALERT_ERROR_RATE = 0.5")).toEqual([]);
});

test("each number that isn't valid is named, with what is valid", () => {
  const config = [
    'TIFO_EVENT_RETENTION_DAYS = "30d"',
    'TIFO_RELAY_CAPACITY = ""',
    "TIFO_ALERT_ERROR_RATE = 2",
    "TIFO_BACKUP_DAILY = 1.5",
    "TIFO_BACKUP_HOUR = 24",
  ];
  expect(variableProblems(config.join("\n"))).toEqual([
    'TIFO_RELAY_CAPACITY must be a whole number of at least 1, not ""',
    'TIFO_EVENT_RETENTION_DAYS must be a whole number of at least 1, not "30d"',
    'TIFO_BACKUP_DAILY must be a whole number of at least 0, not "1.5"',
    'TIFO_BACKUP_HOUR must be a whole number from 0 to 23, not "24"',
    'TIFO_ALERT_ERROR_RATE must be a number from 0 to 1, not "2"',
  ]);
});
