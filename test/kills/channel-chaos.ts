import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { build } from "esbuild";
import { ROOT } from "#scripts/lib/root.mjs";
import { launchBrowser } from "#test/browser/browser.ts";
import { CHANNEL, Client, Crowd, SITE, type ClientRecord } from "./channel-chaos-crowd.ts";
import { Wire } from "./channel-chaos-wire.ts";
import { startServer, temporaryState } from "#test/browser/server.ts";

const OVERLAY = "5eed0000000000000000a001";
const HEADERS = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
const BROADCAST_MS = 150;
const CUT_MS = 300;
const JUMP_MS = 500;
const RETRY_MS = 500;
/** The share of connections that is dropped each time. */
const CUT_SHARE = 0.1;
/** The platform evicts an object after ten seconds without a call; its sockets stay open. */
const EVICTION_MS = 12_000;

const Sent = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string(), seq: z.number() })]) });

export interface ChaosOptions {
  /** Where the clients run: in Node from the SDK's sources, or in Chromium from its package. */
  where: "node" | "chromium";
  clients: number;
  /** How long broadcasts, dropped connections and clock jumps continue. */
  seconds: number;
  /** How often the server is killed and restarted. */
  kills: number;
  /** How often everything pauses, in addition to `seconds`, until the channel's objects are evicted. */
  evictions: number;
}

export interface ChaosOutcome {
  /** Broadcasts that the server acknowledged. */
  acknowledged: number;
  /** Frames in the channel's log. */
  logged: number;
  /** Connections that were admitted. */
  connections: number;
  /** Broadcasts that were acknowledged but aren't in the log. */
  lost: string[];
  /** Clients that didn't receive the log in order and once. */
  wrong: string[];
}

/** A {@link Crowd}, in Node or in Chromium. */
interface Audience {
  waitForSeq(seq: number): Promise<void>;
  jumpClocks(): void | Promise<void>;
  records(): ClientRecord[] | Promise<ClientRecord[]>;
  leave(): void | Promise<void>;
}

/**
 * Runs clients of one channel while connections are dropped at random, clocks jump, the channel's objects are evicted, and the server is
 * killed and restarted, until every client has the complete log.
 */
export async function surviveChaos({ where, clients, seconds, kills, evictions }: ChaosOptions): Promise<ChaosOutcome> {
  const state = await temporaryState();
  let server = await startServer({ state });
  const { url } = server;
  const port = Number(new URL(url).port);
  const wire = await Wire.to(port);
  const audience = await (where === "node" ? new Crowd(wire.url, clients) : crowdInChromium(wire.url, clients));
  const acknowledged: { broadcastId: string; seq: number }[] = [];
  const chaos = new Chaos();
  try {
    await audience.waitForSeq(0);
    chaos.every(CUT_MS, () => wire.cut(CUT_SHARE));
    chaos.every(JUMP_MS, () => void audience.jumpClocks());
    // While the server is down nothing is acknowledged, so nothing can be lost.
    chaos.every(BROADCAST_MS, () => void broadcast(url).then((sent) => acknowledged.push(sent), ignore));
    const events = [...Array<"kill">(kills).fill("kill"), ...Array<"evict">(evictions).fill("evict")];
    for (const event of events) {
      await pause((seconds * 1000) / (events.length + 1));
      if (event === "kill") {
        await server.kill();
        server = await startServer({ state, port });
      } else {
        chaos.paused = true;
        await pause(EVICTION_MS);
        chaos.paused = false;
      }
    }
    await pause((seconds * 1000) / (events.length + 1));
    chaos.end();
    const last = await broadcastWithRetries(url);
    acknowledged.push(last);
    await audience.waitForSeq(last.seq);
    const log = await readLog(url, last.seq);
    const records = await audience.records();
    return {
      acknowledged: acknowledged.length,
      logged: log.length,
      connections: records.reduce((sum, { welcomes }) => sum + welcomes, 0),
      lost: acknowledged.map(({ broadcastId }) => broadcastId).filter((id) => !log.some((frame) => frame.includes(id))),
      wrong: records.filter((record) => !agrees(record, log)).map(({ name }) => name),
    };
  } finally {
    chaos.end();
    await audience.leave();
    wire.close();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Repeated actions that can be paused. */
class Chaos {
  paused = false;
  readonly #timers: ReturnType<typeof setInterval>[] = [];

  every(interval: number, work: () => void): void {
    this.#timers.push(setInterval(() => this.paused || work(), interval));
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}

// Defined by the script that is added to the page below.
declare const chaos: { Crowd: typeof Crowd };

/** A crowd in a page of Chromium, bundled from the built package. */
async function crowdInChromium(origin: string, count: number): Promise<Audience> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "test/kills/channel-chaos-crowd.ts")],
    plugins: [
      {
        name: "package",
        setup: (build) => build.onResolve({ filter: /\/sdk\/channel\/index\.ts$/ }, () => ({ path: join(ROOT, "sdk/dist/channel.js") })),
      },
    ],
    bundle: true,
    format: "iife",
    globalName: "chaos",
    logLevel: "error",
    write: false,
  });
  const browser = await launchBrowser();
  // Any page of the server works; pages of other origins may not connect to this machine.
  const page = await browser.newPage({ bypassCSP: true });
  await page.goto(`${origin}/sdk/integrity.json`);
  await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
  const crowd = await page.evaluateHandle(([from, size]) => new chaos.Crowd(from, size), [origin, count] as const);
  return {
    waitForSeq: (seq) => crowd.evaluate((instance, position) => instance.waitForSeq(position), seq),
    jumpClocks: () => crowd.evaluate((instance) => instance.jumpClocks()),
    records: () => crowd.evaluate((instance) => instance.records()),
    leave: () => browser.close(),
  };
}

/** Whether a client received the log since its first welcome, in order and once. */
function agrees({ from, startedOver, frames }: ClientRecord, log: readonly string[]): boolean {
  const expected = log.slice(from);
  return !startedOver && expected.length === frames.length && expected.every((frame, index) => frame === frames[index]);
}

/** The channel's complete log, read by a client that resumes from the start. */
async function readLog(url: string, upTo: number): Promise<readonly string[]> {
  const probe = new Client(url, "probe");
  await probe.waitForSeq(upTo);
  probe.leave();
  const reader = new Client(url, "reader", { epoch: probe.epoch, seq: 0 });
  await reader.waitForSeq(upTo);
  reader.leave();
  return reader.record().frames;
}

async function broadcast(url: string): Promise<{ broadcastId: string; seq: number }> {
  const response = await fetch(`${url}/overlay/v1/broadcast/${OVERLAY}`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ channelId: CHANNEL, duration: 600, variables: { scorer: "Ada Moreno", minute: 17 } }),
  });
  return Sent.parse(await response.json()).broadcasts[0];
}

/** Retries until the server acknowledges, because it may still be starting. */
async function broadcastWithRetries(url: string): Promise<{ broadcastId: string; seq: number }> {
  for (;;) {
    const sent = await broadcast(url).catch(ignore);
    if (sent) return sent;
    await pause(RETRY_MS);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function ignore(): void {}
