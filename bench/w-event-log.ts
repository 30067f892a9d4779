import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { ask } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { perSecond, type Result } from "./lib/report.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";
import { type Sink, startSink } from "./lib/sink.ts";

const KEY = { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo" };
/** The first endpoint gets every event; the other one those of one service, as any programmatic webhook. */
const SERVICES = ["overlay-service-v1", "account-service-v3", "page-service-v2", "qna-service-v1"];
const SHARES = [1, 0.5];
const DELIVERIES = 1.5;
const PER_COMMIT = 50;
const SAMPLE_MS = 250;
const WARM_UP = 500;

const Written = z.object({ written: z.number() });
const Rows = z.object({ log: z.number(), endpoints: z.number() });

/** What one run with a fixed rate of events has shown. */
interface Run {
  offered: number;
  /** Events a second, from the first commit until both endpoints had the last event. */
  processed: number;
  /** The most events that were committed but not delivered to every endpoint that gets them. */
  backlog: number;
  /** From the last commit until both endpoints had everything. */
  drained: number;
  cpu: number;
  rows: { d1: number; log: number; endpoints: number };
}

/** W: a site's events at a fixed rate, from their commit through the log and their effects to two webhook endpoints. */
export async function eventLog(quick: boolean): Promise<Result> {
  const code = await bundle("bench/workers/event-log.ts");
  const runs: Run[] = [];
  for (const rate of quick ? [250, 1_000] : [250, 500, 1_000]) runs.push(await measure(code, rate, quick ? 5 : 60));
  const columns = [
    "offered",
    "processed",
    "greatest backlog",
    "drained after",
    "CPU per event",
    "rows per event: D1",
    "log",
    "per delivery",
  ];
  return {
    columns,
    rows: runs.map((run) => [
      perSecond(run.offered),
      perSecond(run.processed),
      run.backlog.toLocaleString("en"),
      `${run.drained.toFixed(1)} s`,
      `${run.cpu.toFixed(2)} ms`,
      ...[run.rows.d1, run.rows.log, run.rows.endpoints / DELIVERIES].map((rows) => rows.toFixed(2)),
    ]),
    remarks: [
      `for ${quick ? 5 : 60} s each, ${PER_COMMIT} events a commit, half of them with effects; one endpoint gets all of them, a second one half`,
      "processed: until both endpoints had accepted the last event; CPU of the whole server with its local database, deliveries included",
    ],
  };
}

async function measure(code: string, rate: number, seconds: number): Promise<Run> {
  const folder = newFolder();
  await createDatabase(folder, (database) => loadDemo(database, undefined, { TIFO_SECRET: VARIABLES.TIFO_SECRET ?? "" }));
  const variables = { ...VARIABLES, TIFO_DEVELOPMENT: "true" };
  const server = await startMiniflare({ code, objects: OBJECTS, variables }, folder);
  const sinks = await Promise.all([startSink(), startSink()]);
  try {
    return await new EventRun(server, sinks).execute(rate, seconds);
  } finally {
    await server.stop();
    for (const sink of sinks) sink.stop();
  }
}

class EventRun {
  readonly #server: Server;
  readonly #sinks: readonly Sink[];
  #committed = 0;
  #d1Rows = 0;

  constructor(server: Server, sinks: readonly Sink[]) {
    this.#server = server;
    this.#sinks = sinks;
  }

  async execute(rate: number, seconds: number): Promise<Run> {
    await this.#addEndpoints();
    await this.#commit(WARM_UP);
    await this.#drain();
    const [rows, d1Rows, first] = [await this.#rows(), this.#d1Rows, this.#committed];
    const used = meter(this.#server.group);
    const started = performance.now();
    const backlog = await this.#offer(rate, seconds);
    const committed = performance.now();
    await this.#drain();
    const ended = performance.now();
    const usage = used();
    const [events, after] = [this.#committed - first, await this.#rows()];
    const deletion = Written.parse(await this.#ask("GET", "/bench/deletion")).written;
    return {
      offered: rate,
      processed: events / ((ended - started) / 1000),
      backlog,
      drained: (ended - committed) / 1000,
      cpu: (usage.server * usage.seconds * 1000) / events,
      rows: {
        d1: (this.#d1Rows - d1Rows) / events + deletion,
        log: (after.log - rows.log) / events,
        endpoints: (after.endpoints - rows.endpoints) / events,
      },
    };
  }

  /** Commits at this rate, whatever the server does; returns the greatest backlog. */
  async #offer(rate: number, seconds: number): Promise<number> {
    let [backlog, ended] = [0, false];
    const sampling = (async () => {
      for (; !ended; await sleep(SAMPLE_MS)) backlog = Math.max(backlog, this.#waiting());
    })();
    const commits: Promise<void>[] = [];
    const started = performance.now();
    for (let number = 0; number < (rate * seconds) / PER_COMMIT; number++) {
      await sleep(Math.max(0, (number * 1000 * PER_COMMIT) / rate - (performance.now() - started)));
      commits.push(this.#commit(PER_COMMIT));
    }
    await Promise.all(commits);
    ended = true;
    await sampling;
    return backlog;
  }

  async #commit(count: number): Promise<void> {
    const from = this.#committed;
    this.#committed += count;
    const { written } = Written.parse(await this.#ask("POST", "/bench/commit", { from, count }));
    this.#d1Rows += written;
  }

  /** Events that an endpoint hasn't accepted yet. */
  #waiting(): number {
    return Math.max(...this.#sinks.map((sink, index) => this.#committed - sink.received() / (SHARES[index] ?? 1)));
  }

  async #drain(): Promise<void> {
    while (this.#waiting() > 0) await sleep(SAMPLE_MS / 10);
  }

  async #addEndpoints(): Promise<void> {
    const [own, other] = this.#sinks.map(({ url }) => url);
    await this.#ask("POST", "/webhooks/v1", { webhooks: { enabled: true, webhookUrl: own, webhookSubscriptions: SERVICES } });
    await this.#ask("POST", "/webhooks/v1/programmatic", { webhookUrl: other, service: "overlay-service-v1" });
  }

  async #rows(): Promise<z.output<typeof Rows>> {
    return Rows.parse(await this.#ask("GET", "/bench/rows"));
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    return JSON.parse(await ask(this.#server.port, method, path, KEY, body && JSON.stringify(body)));
  }
}
