import type { OperatorReport } from "./schemas.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Record<string, string | null>;
type Sample = [value: number | null, labels?: Labels];

/** The report in Prometheus' text format. What is unknown has no sample. */
export function toPrometheus({ time, ...report }: OperatorReport): string {
  const { version, database, outbox, effects, jobs, schedule, cron, backups, viewers, isolate } = report;
  const night = backups.lastNight;
  const age = (since: number | null) => (since === null ? 0 : Math.max(0, time - since) / 1000);
  const kinds = { memberExports: jobs.memberExports, siteArchives: jobs.siteArchives };
  const perKind = (value: (backlog: { count: number; oldest: number | null }) => number) =>
    Object.entries(kinds).map(([kind, backlog]): Sample => [value(backlog), { kind }]);
  const own = { isolate: isolate.id };
  const perRoute = (value: (route: (typeof isolate.routes)[number]) => number | null, labels: Labels = {}) =>
    isolate.routes.map((each): Sample => [value(each), { ...own, method: each.method, route: each.route, ...labels }]);
  return [
    metric("tifo_version", "gauge", "The Worker's version; always 1", [[1, { id: version.id, tag: version.tag }]]),
    metric("tifo_database_bytes", "gauge", "Size of the largest D1 database", [[database.bytes]]),
    metric(
      "tifo_shard_bytes",
      "gauge",
      "Size of each shard's D1 database",
      database.shards.map(({ shard, bytes }) => [bytes, { shard: String(shard) }]),
    ),
    metric("tifo_database_limit_bytes", "gauge", "Maximum size of a D1 database", [[database.maxBytes]]),
    metric("tifo_outbox_events", "gauge", "Events that are not in their site's log yet", [[outbox.events]]),
    metric("tifo_outbox_age_seconds", "gauge", "Age of the oldest of these events", [[age(outbox.oldest)]]),
    metric("tifo_effects_failing", "gauge", "Effects of events that fail and are retried", [[effects.failing]]),
    metric("tifo_effects_abandoned", "gauge", "Effects of events that were given up", [[effects.abandoned]]),
    metric("tifo_queue_messages", "gauge", "Messages in the job queue", [[jobs.queue?.messages ?? null]]),
    metric(
      "tifo_jobs_unfinished",
      "gauge",
      "Jobs that are not finished, by kind",
      perKind(({ count }) => count),
    ),
    metric(
      "tifo_jobs_age_seconds",
      "gauge",
      "Age of the oldest unfinished job, by kind",
      perKind(({ oldest }) => age(oldest)),
    ),
    metric("tifo_dead_letters", "gauge", "Messages of the last 30 days that the job queue gave up", [[jobs.deadLetters]]),
    metric("tifo_schedule_late", "gauge", "Scheduled actions that are more than a minute late", [[schedule.late]]),
    metric("tifo_schedule_late_seconds", "gauge", "By how much the oldest of these is late", [[age(schedule.oldest)]]),
    metric("tifo_cron_age_seconds", "gauge", "Time since the cron last completed", [[cron && age(cron.completed)]]),
    metric("tifo_cron_failures", "gauge", "Steps that failed in the cron's last run", [[cron && cron.failures.length]]),
    metric("tifo_backups_age_seconds", "gauge", "Time since the last night's backups began", [[night && age(night.started)]]),
    metric("tifo_backups_failed", "gauge", "Backups since then that failed", [[night && night.failed]]),
    metric("tifo_backups_unfinished", "gauge", "Backups since then that are not finished", [[night && night.unfinished]]),
    metric("tifo_viewers", "gauge", "Connected viewers", [[viewers.connected]]),
    metric("tifo_viewers_unreachable_sites", "gauge", "Sites whose viewers are not counted", [[viewers.unreachable]]),
    metric(
      "tifo_isolate_requests_total",
      "counter",
      "Requests of the responding isolate",
      perRoute(({ requests }) => requests),
    ),
    metric("tifo_isolate_responses_total", "counter", "Its responses with an error, by class", [
      ...perRoute(({ rejected }) => rejected, { class: "4xx" }),
      ...perRoute(({ errors }) => errors, { class: "5xx" }),
    ]),
    metric("tifo_isolate_sockets_opened_total", "counter", "Sockets that it opened", [[isolate.socketsOpened, own]]),
    metric("tifo_isolate_request_milliseconds", "gauge", "Its response times in the last 5 to 10 minutes", [
      ...perRoute(({ p50 }) => p50, { quantile: "0.5" }),
      ...perRoute(({ p99 }) => p99, { quantile: "0.99" }),
    ]),
  ].join("");
}

function metric(name: string, type: "gauge" | "counter", help: string, samples: Sample[]): string {
  const known = samples.filter(([value]) => value !== null);
  if (known.length === 0) return "";
  const lines = known.map(([value, labels = {}]) => `${name}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value ?? "")}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
