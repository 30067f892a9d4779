import { expect, test } from "vitest";
import { NUMBERS } from "#worker/lib/variables.ts";
import { readConfig, sectionsOf } from "./databases.ts";
import { variableProblems } from "./variables.ts";

const CONFIG = readConfig();

/** wrangler.toml with other lines for some variables; null removes one. */
function changed(lines: Record<string, string | null>): string {
  return Object.entries(lines).reduce(
    (config, [name, line]) => config.replace(new RegExp(`^${name} = .*\\n`, "m"), line === null ? "" : `${name} = ${line}\n`),
    CONFIG,
  );
}

test("wrangler.toml is valid, and has each number with its default", () => {
  for (const [name, { fallback }] of Object.entries(NUMBERS)) expect(CONFIG).toContain(`\n${name} = "${fallback}"\n`);
  expect(variableProblems(CONFIG)).toEqual([]);
});

test("no variable is unchecked", () => {
  const variables = sectionsOf(CONFIG).find((section) => section.startsWith("[vars]")) ?? "";
  const names = [...variables.matchAll(/^(\w+) = /gm)].map(([, name = ""]) => name);
  expect(names).toContain("TIFO_OEMBED_URL");
  const unchecked = names.filter((name) => variableProblems(changed({ [name]: '"not \\u0000 valid"' })).length === 0);
  expect(unchecked).toEqual([]);
});

test("numbers may be written without quotes, or be absent, and texts in either kind of quotes", () => {
  const numbers = { TIFO_SANDBOXES: "500 # for the fair", TIFO_ALERT_ERROR_RATE: "0.5", TIFO_BACKUP_HOUR: null };
  const config = changed({ ...numbers, TIFO_REQUEST_LOG: "'off'" });
  expect(config).toContain("\nTIFO_SANDBOXES = 500 # for the fair\n");
  expect(variableProblems(config)).toEqual([]);
});

test("each number that isn't valid is named, with what is valid", () => {
  const config = changed({
    TIFO_EVENT_RETENTION_DAYS: '"30d"',
    TIFO_RELAY_CAPACITY: '""',
    TIFO_ALERT_ERROR_RATE: "2",
    TIFO_BACKUP_DAILY: "1.5",
    TIFO_BACKUP_HOUR: "24",
  });
  expect(variableProblems(config)).toEqual([
    'TIFO_RELAY_CAPACITY must be a whole number of at least 1, not ""',
    'TIFO_EVENT_RETENTION_DAYS must be a whole number of at least 1, not "30d"',
    'TIFO_BACKUP_DAILY must be a whole number of at least 0, not "1.5"',
    'TIFO_BACKUP_HOUR must be a whole number from 0 to 23, not "24"',
    'TIFO_ALERT_ERROR_RATE must be a number from 0 to 1, not "2"',
  ]);
});

test("development's exemptions can't be deployed", () => {
  expect(variableProblems(changed({ TIFO_DEVELOPMENT: '"true"' }))).toEqual([
    'TIFO_DEVELOPMENT must be "false" in a deployment, not "true"',
  ]);
});

test("each other variable that isn't valid or is missing is named, with what is valid", () => {
  const config = changed({
    TIFO_REQUEST_LOG: '"Off"',
    TIFO_READ_REPLICAS: "true",
    TIFO_SHARD_WEIGHTS: '"1;3"',
    TIFO_ALERT_URL: '"hooks.example/tifo"',
    TIFO_ALERT_EMAIL: '"ops"',
    TIFO_MAIL_FROM: '""',
    TIFO_STRIPE_URL: '"http://stripe.example"',
    TIFO_TRANSLATE_URL: null,
    TIFO_CHAT_GUARD_URL: '"workers_ai"',
  });
  expect(variableProblems(config)).toEqual([
    'TIFO_REQUEST_LOG must be "on" or "off", not "Off"',
    'TIFO_READ_REPLICAS must be "on" or "off", not "true"',
    'TIFO_SHARD_WEIGHTS must be numbers separated by commas, such as "1,3", or empty, not "1;3"',
    'TIFO_ALERT_URL must be an https URL or empty, not "hooks.example/tifo"',
    'TIFO_ALERT_EMAIL must be an email address or empty, not "ops"',
    'TIFO_MAIL_FROM must be an email address, not ""',
    'TIFO_CHAT_GUARD_URL must be an https URL, "workers-ai" or empty, not "workers_ai"',
    "TIFO_TRANSLATE_URL is missing: take its line from this release's wrangler.toml",
    'TIFO_STRIPE_URL must be an https URL, not "http://stripe.example"',
  ]);
});

test.each(["1,3", "0, 1.5", "2", ""])("weights of shards: %j", (weights) => {
  expect(variableProblems(changed({ TIFO_SHARD_WEIGHTS: `"${weights}"` }))).toEqual([]);
});

test("whoever moderates or translates may be a service or Workers AI", () => {
  expect(
    variableProblems(changed({ TIFO_CHAT_GUARD_URL: '"workers-ai"', TIFO_TRANSLATE_URL: '"https://translate.example/translate"' })),
  ).toEqual([]);
});
