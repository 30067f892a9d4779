import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { build } from "esbuild";
import { ROOT } from "#scripts/lib/root.mjs";
import { launchBrowser } from "./browser.ts";
import { CHANNEL, Client, Crowd, SITE, type Tale } from "./channel-chaos-crowd.ts";
import { Wire } from "./channel-chaos-wire.ts";
import { startServer, temporaryState } from "./server.ts";

const OVERLAY = "5eed0000000000000000a001";
const HEADERS = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
const BROADCAST_MS = 150;
const CUT_MS = 300;
const JUMP_MS = 500;
const RETRY_MS = 500;
/** How many of the connections are cut at a time. */
const CUT_SHARE = 0.1;
/** The platform takes an object that nobody has called for ten seconds out of memory; its sockets stay. */
const EVICTION_MS = 12_000;

const Sent = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string(), seq: z.number() })]) });

export interface ChaosOptions {
  /** Where the clients run: in Node from the SDK's sources, or in a page of Chromium from its package. */
  where: "node" | "chromium";
  clients: number;
  /** How long broadcasts, cuts and jumps of the clock go on. */
  seconds: number;
  /** How often the server is killed and started again. */
  kills: number;
  /** How often all is quiet, on top of `seconds`, until the channel's objects are evicted. */
  evictions: number;
}

export interface ChaosOutcome {
  /** Broadcasts that the server acknowledged. */
  acknowledged: number;
  /** Frames that the channel's log holds. */
  logged: number;
  /** Times that a client was let in. */
  connections: number;
  /** Broadcasts that were acknowledged and are not in the log. */
  lost: string[];
  /** Clients whose frames are not the log's, in order, once. */
  wrong: string[];
}

/** Those who watch, wherever they are: a {@link Crowd}. */
interface Audience {
  waitForSeq(seq: number): Promise<void>;
  jumpClocks(): void | Promise<void>;
  tales(): Tale[] | Promise<Tale[]>;
  leave(): void | Promise<void>;
}

/**
 * Clients of one channel while connections are cut at random, the clocks of some jump, the channel's objects are evicted, and the server
 * is killed and started again, until all hold all.
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
    // While the server is down nothing is acknowledged, and nothing is owed.
    chaos.every(BROADCAST_MS, () => void broadcast(url).then((sent) => acknowledged.push(sent), ignore));
    const blows = [...Array<"kill">(kills).fill("kill"), ...Array<"evict">(evictions).fill("evict")];
    for (const blow of blows) {
      await pause((seconds * 1000) / (blows.length + 1));
      if (blow === "kill") {
        await server.kill();
        server = await startServer({ state, port });
      } else {
        chaos.paused = true;
        await pause(EVICTION_MS);
        chaos.paused = false;
      }
    }
    await pause((seconds * 1000) / (blows.length + 1));
    chaos.end();
    const last = await broadcastAtLast(url);
    acknowledged.push(last);
    await audience.waitForSeq(last.seq);
    const log = await readLog(url, last.seq);
    const tales = await audience.tales();
    return {
      acknowledged: acknowledged.length,
      logged: log.length,
      connections: tales.reduce((sum, { welcomes }) => sum + welcomes, 0),
      lost: acknowledged.map(({ broadcastId }) => broadcastId).filter((id) => !log.some((frame) => frame.includes(id))),
      wrong: tales.filter((tale) => !agrees(tale, log)).map(({ name }) => name),
    };
  } finally {
    chaos.end();
    await audience.leave();
    wire.close();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What goes on at intervals, but for pauses. */
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

// What the script below makes in the page.
declare const chaos: { Crowd: typeof Crowd };

/** A crowd in one page of Chromium, made of the built package. */
async function crowdInChromium(origin: string, count: number): Promise<Audience> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "test/browser/channel-chaos-crowd.ts")],
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
  // Any page of the server will do: one from elsewhere may not speak to this machine.
  const page = await browser.newPage({ bypassCSP: true });
  await page.goto(`${origin}/sdk/integrity.json`);
  await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
  const crowd = await page.evaluateHandle(([from, size]) => new chaos.Crowd(from, size), [origin, count] as const);
  return {
    waitForSeq: (seq) => crowd.evaluate((there, position) => there.waitForSeq(position), seq),
    jumpClocks: () => crowd.evaluate((there) => there.jumpClocks()),
    tales: () => crowd.evaluate((there) => there.tales()),
    leave: () => browser.close(),
  };
}

/** Whether a client's frames are those of the log since it came, in order, once. */
function agrees({ from, startedOver, frames }: Tale, log: readonly string[]): boolean {
  const its = log.slice(from);
  return !startedOver && its.length === frames.length && its.every((frame, index) => frame === frames[index]);
}

/** All that the channel's log holds, read by one who comes back from its very beginning. */
async function readLog(url: string, upTo: number): Promise<readonly string[]> {
  const scout = new Client(url, "scout");
  await scout.waitForSeq(upTo);
  scout.leave();
  const reader = new Client(url, "reader", { epoch: scout.epoch, seq: 0 });
  await reader.waitForSeq(upTo);
  reader.leave();
  return reader.tale().frames;
}

async function broadcast(url: string): Promise<{ broadcastId: string; seq: number }> {
  const response = await fetch(`${url}/overlay/v1/broadcast/${OVERLAY}`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ channelId: CHANNEL, duration: 600, variables: { scorer: "Ada Moreno", minute: 17 } }),
  });
  return Sent.parse(await response.json()).broadcasts[0];
}

/** A server under load may still be picking itself up: asks until it acknowledges. */
async function broadcastAtLast(url: string): Promise<{ broadcastId: string; seq: number }> {
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
