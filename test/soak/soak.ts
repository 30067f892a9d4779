import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startReceiver } from "#test/webhook-receiver.ts";
import { Api } from "./api.ts";
import type { Lane, Outcome } from "./lane.ts";
import { Broadcasts } from "./lanes/broadcasts.ts";
import { Changes } from "./lanes/changes.ts";
import { Chat } from "./lanes/chat.ts";
import { Credits } from "./lanes/credits.ts";
import { Files } from "./lanes/files.ts";
import { Moves } from "./lanes/moves.ts";
import { Purchases } from "./lanes/purchases.ts";
import { Votes } from "./lanes/votes.ts";
import { levelsOf, type Levels, Meter } from "./meter.ts";
import { type Adversity, NO_ADVERSITY, SoakServer } from "./server.ts";
import { serveStripe } from "./stripe.ts";

/** The time from a server's start to its kill. */
const LIFE_SECONDS = 40;
const CRON_SECONDS = 15;
/** The cron's runs after the last kill: a payment that couldn't be synced is tried again after five minutes. */
const LAST_CRONS = 28;
/** The share of deliveries that the webhook's receiver rejects. */
const REJECTED_DELIVERIES = 0.02;

export interface SoakOutcome {
  kills: number;
  lanes: Record<string, Outcome>;
  levels: Levels;
}

/**
 * Mixes broadcasts, chat, votes, credits, purchases, webhooks and uploads for some minutes, while bindings fail, objects are evicted, the
 * clock jumps, the site moves from one database to the other and back, and the server is killed. Then compares what clients know from
 * responses with what the server has.
 */
export async function soak(minutes: number, say: (line: string) => void): Promise<SoakOutcome> {
  const state = await mkdtemp(join(tmpdir(), "tifo-soak-"));
  const stripe = await serveStripe();
  const receiver = await startReceiver(() => (Math.random() < REJECTED_DELIVERIES ? 500 : 204));
  const server = new SoakServer(state, stripe.url);
  const api = new Api(() => server.url);
  const lanes: Lane[] = [
    new Moves(api, server),
    new Broadcasts(api, server),
    new Chat(api, server),
    new Votes(api),
    new Credits(api),
    new Purchases(api),
    new Changes(api, receiver),
    new Files(api),
  ];
  try {
    await server.start(NO_ADVERSITY);
    for (const lane of lanes) await lane.prepare();
    const meter = new Meter(state);
    const work = new Work(lanes);
    const end = Date.now() + minutes * 60_000;
    let kills = 0;
    for (; Date.now() < end; kills++) {
      await server.kill();
      const adversity = randomAdversity();
      say(`Life ${kills + 1}: ${JSON.stringify(adversity)}, ${work.steps} steps so far`);
      await server.start(adversity);
      await live(server, Math.min(LIFE_SECONDS * (0.5 + Math.random()) * 1000, end - Date.now()));
      meter.read(server.current.pid, work.steps);
    }
    await server.kill();
    await server.start(NO_ADVERSITY);
    await work.end();
    for (let run = 0; run < LAST_CRONS; run++) {
      await server.runScheduled();
      await sleep(CRON_SECONDS * 1_000);
    }
    const outcomes: Record<string, Outcome> = {};
    for (const lane of lanes) outcomes[lane.name] = await lane.compare();
    return { kills, lanes: outcomes, levels: levelsOf(meter.readings) };
  } finally {
    for (const lane of lanes) lane.close?.();
    await server.kill();
    await receiver.stop();
    stripe.close();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The lanes' steps, side by side, until the end. */
class Work {
  steps = 0;
  #isOver = false;
  readonly #running: Promise<void>[];

  constructor(lanes: Lane[]) {
    this.#running = lanes.map((lane) => this.#run(lane));
  }

  /** Resolves when the steps that have begun are done; rejects if one was answered wrongly. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #run(lane: Lane): Promise<void> {
    while (!this.#isOver) {
      await lane.step();
      this.steps++;
      await sleep(lane.pauseMs);
    }
  }
}

/** Lets a server live for this long. */
async function live(server: SoakServer, ms: number): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end;) {
    await sleep(Math.min(CRON_SECONDS * 1000, Math.max(0, end - Date.now())));
    if (Date.now() < end) await server.runScheduled();
  }
}

function randomAdversity(): Adversity {
  return {
    faults: Number((Math.random() * 0.02).toFixed(4)),
    clockMs: Math.round(-20_000 + Math.random() * 60_000),
    evictionSeconds: Math.round(10 + Math.random() * 40),
  };
}
