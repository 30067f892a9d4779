import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { bundle } from "./lib/bundle.ts";
import { repeatIfLost } from "./lib/connection-loss.ts";
import { REALTIME } from "./lib/fan-out.ts";
import { ask } from "./lib/http.ts";
import type { Server } from "./lib/processes.ts";
import { milliseconds, type Result } from "./lib/report.ts";
import { newFolder, startWorkerd, VARIABLES } from "./lib/runtimes.ts";
import { Crowd, type Viewer } from "./lib/viewers.ts";

const ROOMS = ["north", "south", "east"];
const SAMPLE_MS = 100;
const STALE_MS = 2_000;
/** The runtime evicts objects that are idle for 10 s. */
const EVICTED_MS = 13_000;
const CHURN = 0.2;

const Counts = z.object({ concurrents: z.number(), channels: z.array(z.object({ channelId: z.string(), concurrents: z.number() })) });

/** I: the viewer count compared with an exact model, while a fifth of the viewers reconnects each second, across evictions and a hard kill. */
export function counts(quick: boolean): Promise<Result> {
  return repeatIfLost("the run", () => countOnce(quick));
}

async function countOnce(quick: boolean): Promise<Result> {
  const viewers = quick ? 90 : 600;
  const folder = newFolder();
  const worker = { code: await bundle("bench/workers/realtime.ts"), objects: REALTIME, variables: VARIABLES };
  const model = new Model();
  const rows: string[][] = [];

  await withServer(await startWorkerd(worker, folder), async (first) => {
    await model.fill(first, viewers);
    rows.push(["after the viewers joined", await settle(first, model)]);
    const churn = await underChurn(first, model, quick ? 4 : 12);
    rows.push([`under churn of ${CHURN * 100} % a second, ${churn.samples} samples`, churn.text]);
    rows.push(["after the churn", await settle(first, model)]);
    await sleep(quick ? 0 : EVICTED_MS);
    rows.push(["after the objects were evicted", await settle(first, model)]);
    model.dropHalf();
    rows.push(["half of the viewers dropped silently", await settle(first, model)]);
  });
  model.leaveAll();

  await withServer(await startWorkerd(worker, folder), async (second) => {
    rows.push(["after kill -9 and restart, before any reconnection", await settle(second, model)]);
    await model.fill(second, Math.floor(viewers / 2));
    rows.push(["after half of them reconnected", await settle(second, model)]);
    model.leaveAll();
    rows.push(["after all viewers left", await settle(second, model)]);
  });
  return { columns: ["step", "count"], rows };
}

/** Runs the work and stops the server, even if the work fails and is repeated. */
async function withServer(server: Server, work: (server: Server) => Promise<void>): Promise<void> {
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

/** A viewer's visit to a channel, in ms of the client's clock. */
interface Visit {
  requested: number;
  welcomed: number;
  left: number;
}

/** The actual viewers over time, from which the age of a count is computed. */
class Model {
  readonly #crowds = new Map(ROOMS.map((room) => [room, new Crowd(Infinity)]));
  readonly #visits = new Map<Viewer, Visit>();

  get total(): number {
    return [...this.#crowds.values()].reduce((sum, { viewers }) => sum + viewers.length, 0);
  }

  byRoom(): Record<string, number> {
    return Object.fromEntries([...this.#crowds].map(([room, { viewers }]) => [room, viewers.length]));
  }

  async fill(server: Server, viewers: number): Promise<void> {
    for (let number = 0; number < viewers; number += ROOMS.length) await this.#enter(server, number);
  }

  /** Replaces one viewer per room. */
  async replace(server: Server, number: number): Promise<void> {
    for (const { viewers } of this.#crowds.values()) this.#leave(viewers.splice(0, 1));
    await this.#enter(server, number);
  }

  dropHalf(): void {
    for (const { viewers } of this.#crowds.values()) this.#leave(viewers.splice(0, viewers.length / 2));
  }

  leaveAll(): void {
    for (const { viewers } of this.#crowds.values()) this.#leave(viewers.splice(0));
  }

  /** The smallest age in ms at which a count is correct: it must contain everybody who stayed since, and may contain those who joined or left. */
  age({ count, requested, responded }: Sample): number {
    const visits = [...this.#visits.values()];
    for (let age = 0; age <= 2 * STALE_MS; age += 20) {
      const certain = visits.filter(({ welcomed, left }) => welcomed <= requested - age && left > responded).length;
      const possible = visits.filter((visit) => visit.requested <= responded && visit.left >= requested - age).length;
      if (certain <= count && count <= possible) return age;
    }
    return Infinity;
  }

  async #enter({ port }: Server, number: number): Promise<void> {
    const requested = performance.now();
    const joined = [...this.#crowds].map(async ([room, crowd]) => {
      await crowd.connect(port, [`/connect?room=${room}&device=${room}-${number}`], 1, "first");
      const viewer = crowd.viewers.at(-1);
      if (viewer) this.#visits.set(viewer, { requested, welcomed: performance.now(), left: Infinity });
    });
    await Promise.all(joined);
  }

  #leave(viewers: Viewer[]): void {
    for (const viewer of viewers) {
      const visit = this.#visits.get(viewer);
      if (visit) visit.left = performance.now();
      viewer.leave();
    }
  }
}

/** A count, and the times of its request and response, in ms. */
interface Sample {
  count: number;
  requested: number;
  responded: number;
}

/** How long it takes until the total and each channel's count are exact, or that they are wrong after the maximum time. */
async function settle(server: Server, model: Model): Promise<string> {
  const started = performance.now();
  for (;;) {
    const { concurrents, channels } = await ask(server.port, "GET", "/counts").then((text) => Counts.parse(JSON.parse(text)));
    const byRoom = model.byRoom();
    const wrong = ROOMS.filter((room) => (channels.find(({ channelId }) => channelId === room)?.concurrents ?? 0) !== byRoom[room]);
    const waited = performance.now() - started;
    if (concurrents === model.total && wrong.length === 0) return `exact (${concurrents}) after ${milliseconds(waited)}`;
    if (waited > STALE_MS) return `**wrong**: ${concurrents} counted, ${model.total} connected, after ${milliseconds(waited)}`;
    await sleep(20);
  }
}

async function underChurn(server: Server, model: Model, seconds: number): Promise<{ samples: number; text: string }> {
  const until = performance.now() + seconds * 1000;
  const pause = 1000 / ((model.total / ROOMS.length) * CHURN);
  const churning = (async () => {
    for (let number = 100_000; performance.now() < until; number++) {
      const next = performance.now() + pause;
      await model.replace(server, number);
      await sleep(Math.max(0, next - performance.now()));
    }
  })();
  const samples: Sample[] = [];
  while (performance.now() < until) {
    const requested = performance.now();
    const { concurrents } = Counts.parse(JSON.parse(await ask(server.port, "GET", "/counts")));
    samples.push({ count: concurrents, requested, responded: performance.now() });
    await sleep(SAMPLE_MS);
  }
  await churning;
  const oldest = Math.max(...samples.map((sample) => model.age(sample)));
  return { samples: samples.length, text: `${oldest <= STALE_MS ? "" : "**too old**: "}at most ${oldest} ms old` };
}
