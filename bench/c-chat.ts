import { setTimeout as sleep } from "node:timers/promises";
import { CHANNEL_1, SITE_A } from "#db/demo.ts";
import { type ChatContender, chatPeers, SENDERS, tifoChat } from "./lib/chat-contenders.ts";
import { ChatCrowd } from "./lib/chat-crowd.ts";
import { HttpConnection, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { milliseconds, percent, perSecond, type Result } from "./lib/report.ts";
import { clientShare, runRounds, type Reading, type Round, typical } from "./lib/rounds.ts";
import { median, percentile } from "./lib/stats.ts";

const OVERLAY = "5eed0000000000000000a001";
/** Messages a second. */
const RATE = 200;
/** Time between two overlays, ms. Ten a second for 2,000 viewers would use up the server's core by themselves. */
const OVERLAY_PACE_MS = 500;
const WARM_UP_SECONDS = 1;
/** The time without a frame after which nothing more will arrive, ms. */
const SILENCE_MS = 2_000;
/** The time after the last message in which a peer that has fallen behind can still deliver, ms. */
const GIVE_UP_MS = 15_000;

interface Load {
  viewers: number;
  seconds: number;
  overlays: number;
}

/** C: a room with 2,000 viewers and 200 messages a second, and overlays on the same channel. */
export async function chat(quick: boolean): Promise<Result> {
  const load = quick ? { viewers: 200, seconds: 5, overlays: 10 } : { viewers: 2_000, seconds: 15, overlays: 30 };
  const { peers, missing } = chatPeers();
  const contenders = [await tifoChat(), ...peers] as const;
  const remarks = [`${load.viewers} viewers, of whom ${SENDERS} or fewer write; ${RATE} messages/s offered for ${load.seconds} s`];
  const rounds = await runRounds<ChatContender>({
    contenders,
    rounds: quick ? 1 : 3,
    measure: (server, contender) => measure(server, contender, load, remarks),
  });
  if (missing.length > 0) remarks.push(`left out: ${missing.join("; ")}`);
  return {
    columns: ["", "to viewers", "p50 to the last", "p99 to the last", "left out", "server", "client"],
    rows: contenders.map(({ name }) => row(rounds, name)),
    remarks: [...remarks, overlayRemark(rounds)],
  };
}

function row(rounds: Round[], name: string): string[] {
  const figure = (cell: string) => typical(rounds, cell, name);
  return [
    name,
    perSecond(figure("delivered")),
    milliseconds(figure("p50")),
    milliseconds(figure("p99")),
    percent(figure("skipped")),
    percent(figure("server")),
    percent(clientShare(rounds, "p99", name)),
  ];
}

function overlayRemark(rounds: Round[]): string {
  const [quiet, busy] = [typical(rounds, "overlay p99, quiet", "Tifo"), typical(rounds, "overlay p99, chat", "Tifo")];
  const ratios = rounds.flatMap((round) => {
    const values = (cell: string) => (round.get("Tifo") ?? []).filter((reading) => reading.cell === cell).map(({ value }) => value);
    const quiets = values("overlay p99, quiet");
    return values("overlay p99, chat").map((value, index) => value / (quiets[index] ?? NaN));
  });
  return `overlays on the same channel: p99 to the last viewer ${milliseconds(quiet)} while the chat is quiet, ${milliseconds(busy)} beside it, **${median(ratios).toFixed(2)}** times as long (goal at most 1.1)`;
}

async function measure(server: Server, contender: ChatContender, load: Load, remarks: string[]): Promise<Reading[]> {
  const crowd = new ChatCrowd(0, contender.dialect);
  await contender.enter(crowd, server.port, load.viewers);
  const overlays = contender.isTifo ? new Overlays(server.port, crowd) : undefined;
  const quiet = await overlays?.show(({ shown }) => shown < load.overlays);
  const sender = contender.sender(crowd, server.port);
  const sendOne = (number: number): void => {
    crowd.sent.set(number, performance.now());
    sender.send(number);
  };
  const first = WARM_UP_SECONDS * RATE;
  await offer(0, first, sendOne);
  const before = crowd.delivered;
  const used = meter(server.group);
  const total = first + load.seconds * RATE;
  let isOver = false;
  const [busy] = await Promise.all([
    overlays?.show(() => !isOver),
    offer(first, total, sendOne).then(() => {
      isOver = true;
    }),
  ]);
  const usage = used();
  const delivered = (crowd.delivered - before) / usage.seconds;
  await settle(crowd);
  const deliveries = crowd.deliveries(first);
  check(contender, crowd, load, total, deliveries.length, remarks);
  const times = deliveries.map(({ sent, last }) => last - sent);
  const skipped = crowd.skipped / (total * load.viewers);
  overlays?.close();
  sender.close();
  crowd.leave();
  const cells: Record<string, number> = {
    ...{ p50: percentile(times, 0.5), p99: percentile(times, 0.99), delivered, skipped, server: usage.server },
    ...(quiet && busy && { "overlay p99, quiet": percentile(quiet, 0.99), "overlay p99, chat": percentile(busy, 0.99) }),
  };
  return Object.entries(cells).map(([cell, value]) => ({ cell, value, usage }));
}

/** Sends the messages of these numbers at the offered rate, however long they take. */
async function offer(from: number, to: number, send: (number: number) => void): Promise<void> {
  const started = performance.now();
  for (let number = from; number < to;) {
    const due = from + ((performance.now() - started) / 1000) * RATE;
    for (; number < Math.min(to, due); number++) send(number);
    await sleep(2);
  }
}

async function settle(crowd: ChatCrowd): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < Math.min(deadline, crowd.lastArrival + SILENCE_MS)) await sleep(20);
}

/** Throws if a viewer missed messages that weren't announced as skipped; rejected sends are remarks. */
function check(contender: ChatContender, crowd: ChatCrowd, load: Load, total: number, received: number, remarks: string[]): void {
  if (contender.isTifo) {
    if (crowd.violations > 0) throw new Error(`${crowd.violations} batches left a gap or repeated a message`);
    const accepted = crowd.delivered + crowd.skipped;
    if (accepted !== crowd.accepted * load.viewers) throw new Error(`${accepted} messages at viewers, ${crowd.accepted} accepted`);
    for (const [code, count] of crowd.rejected) remarks.push(`${count} of ${total} messages were rejected: ${code}`);
  } else if (crowd.delivered !== total * load.viewers) {
    remarks.push(`${contender.name} delivered ${crowd.delivered} of ${total * load.viewers}, ${received} messages to anybody`);
  }
}

/** Overlays on the chat's channel, one at a time. */
class Overlays {
  readonly #connection: HttpConnection;
  readonly #crowd: ChatCrowd;

  constructor(port: number, crowd: ChatCrowd) {
    this.#connection = new HttpConnection(port);
    this.#crowd = crowd;
  }

  /** Shows overlays as long as `goesOn` says so; returns the milliseconds until the last viewer had each. */
  async show(goesOn: (progress: { shown: number }) => boolean): Promise<number[]> {
    const times: number[] = [];
    while (goesOn({ shown: times.length })) {
      const sent = performance.now();
      const [last] = await Promise.all([this.#crowd.nextOverlay(), this.#broadcast()]);
      times.push(last - sent);
      await sleep(Math.max(5, sent + OVERLAY_PACE_MS - performance.now()));
    }
    return times;
  }

  close(): void {
    this.#connection.close();
  }

  async #broadcast(): Promise<void> {
    const body = JSON.stringify({ channelId: CHANNEL_1, duration: 2, variables: { scorer: "Ada Moreno", minute: 17 } });
    const headers = { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo" };
    const { status, body: text } = await this.#connection.send(requestText("POST", `/overlay/v1/broadcast/${OVERLAY}`, headers, body));
    if (status !== 200) throw new Error(`Not broadcast: ${status} ${text}`);
  }
}
