import { expect, test } from "vitest";
import { toPrometheus } from "./prometheus.ts";
import type { OperatorReport } from "./schemas.ts";

const report: OperatorReport = {
  time: 100_000,
  version: { id: "v1", tag: 'a "b" \\ c\nd', deployed: null },
  database: {
    bytes: 4096,
    maxBytes: 10_000_000_000,
    shards: [
      { shard: 1, bytes: 4096 },
      { shard: 2, bytes: 2048 },
    ],
  },
  outbox: { events: 3, oldest: 98_500, sites: [] },
  effects: { failing: 2, abandoned: 1, sites: [] },
  jobs: {
    queue: null,
    memberExports: { count: 0, oldest: null },
    siteArchives: { count: 1, oldest: 40_000 },
    deadLetters: 4,
    latestDeadLetters: [],
  },
  schedule: { late: 0, oldest: null },
  cron: null,
  backups: {
    lastNight: { day: "1970-01-01", started: 40_000, completed: null, sites: 9, complete: 6, failed: 1, unfinished: 2 },
    latestFailures: [],
  },
  viewers: { connected: 1200, sites: 2, unreachable: 0, truncated: false },
  isolate: {
    id: "0a1b2c3d",
    since: 0,
    requests: 8,
    errors: 1,
    socketsOpened: 5,
    routes: [
      { method: "GET", route: "/poll/v1/{id}", requests: 7, rejected: 2, errors: 1, p50: 10, p99: 90 },
      { method: "*", route: null, requests: 1, rejected: 1, errors: 0, p50: null, p99: null },
    ],
  },
};

test("metrics have one sample for each figure, with ages in seconds", () => {
  const lines = toPrometheus(report).trimEnd().split("\n");
  for (const line of [
    "tifo_outbox_events 3",
    "tifo_outbox_age_seconds 1.5",
    'tifo_jobs_age_seconds{kind="siteArchives"} 60',
    'tifo_jobs_age_seconds{kind="memberExports"} 0',
    "tifo_backups_age_seconds 60",
    "tifo_backups_failed 1",
    "tifo_backups_unfinished 2",
    "tifo_viewers 1200",
    'tifo_isolate_responses_total{isolate="0a1b2c3d",method="GET",route="/poll/v1/{id}",class="5xx"} 1',
    'tifo_isolate_request_milliseconds{isolate="0a1b2c3d",method="GET",route="/poll/v1/{id}",quantile="0.99"} 90',
  ])
    expect(lines).toContain(line);
});

test("metrics have no sample of what is unknown, and none is announced without samples", () => {
  const text = toPrometheus(report);
  for (const unknown of ["tifo_queue_messages", "tifo_cron_age_seconds", 'route="",quantile']) expect(text).not.toContain(unknown);
  const announced = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  const sampled = [...text.matchAll(/^(tifo_\w+)/gm)].map(([, name]) => name);
  expect([...new Set(sampled)]).toEqual(announced);
});

test("metrics escape quotes, backslashes and line breaks in labels", () => {
  expect(toPrometheus(report)).toContain(String.raw`tifo_version{id="v1",tag="a \"b\" \\ c\nd"} 1`);
});
