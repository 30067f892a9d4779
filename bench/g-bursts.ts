import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { type Broadcaster, bareObject, ourChannel, HttpChannel, Publisher } from "./lib/fan-out.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { Crowd } from "./lib/viewers.ts";

const BURST = 10;
/** Each sends its next burst after the response to the last one, so that one burst is in flight while the other is prepared. */
const PUBLISHERS = 2;
const HTML_BYTES = 200;
/** After this long without an arrival, missing events are considered lost. */
const IDLE_TIMEOUT_MS = 10_000;

const Message = z.union([z.object({ seq: z.number() }), z.array(z.object({ seq: z.number() }))]);

/** G: bursts of ten events without a pause. Tifo coalesces events into one message; each event counts once per viewer. */
export async function bursts(quick: boolean): Promise<Result> {
  const sizes = quick ? [500] : [500, 2_000];
  const [ours, bare] = [await ourChannel("Tifo", 2_500), await bareObject()];
  const rounds = await runRounds<Broadcaster>({
    contenders: [ours, bare],
    rounds: quick ? 1 : 5,
    measure: async (server, contender) => {
      const readings: Reading[] = [];
      for (const viewers of sizes) readings.push(await measureRoom(server, contender, viewers, quick ? 1 : 3));
      return readings;
    },
  });
  return comparisonTable({
    rounds,
    cells: sizes.map(cellName),
    ours: ours.name,
    others: [bare.name],
    better: "higher",
    figure: perSecond,
    goals: (cell) => (cell === cellName(2_000) ? { goal: 8, floor: 6 } : undefined),
  });
}

async function measureRoom(server: Server, contender: Broadcaster, viewers: number, seconds: number): Promise<Reading> {
  const room = `room-${viewers}`;
  const crowd = new Crowd(HTML_BYTES);
  const paths = Array.from({ length: viewers }, (_, viewer) => contender.connectPath(room, viewer));
  await crowd.connect(server.port, paths, 64, "opened");
  const sample = new Sample();
  crowd.onSample = (message) => sample.check(message);
  const publishers = Array.from({ length: PUBLISHERS }, (_, number) => new Publisher(new HttpChannel(server.port, room), { number }));

  const used = meter(server.group);
  const started = performance.now();
  let events = 0;
  const publish = async (publisher: Publisher): Promise<void> => {
    while (performance.now() < started + seconds * 1000) {
      await publisher.publish(HTML_BYTES, BURST);
      events += BURST;
    }
  };
  await Promise.all(publishers.map(publish));
  const complete = (): boolean => sample.events === events && crowd.viewers.every(({ bytes }) => bytes === crowd.viewers[0]?.bytes);
  while (!complete()) {
    if (performance.now() > Math.max(started, crowd.lastArrival) + IDLE_TIMEOUT_MS) throw new Error("Events are missing");
    await sleep(5);
  }
  const usage = used();
  const elapsed = (crowd.lastArrival - started) / 1000;

  for (const publisher of publishers) publisher.close();
  crowd.leave();
  return { cell: cellName(viewers), value: (events * viewers) / elapsed, usage };
}

/** Checks that one viewer received every event once and in order. The other viewers must have received as many bytes. */
class Sample {
  events = 0;

  check(message: string): void {
    for (const { seq } of [Message.parse(JSON.parse(message))].flat()) {
      this.events++;
      if (seq !== this.events) throw new Error(`Event ${seq} arrived as number ${this.events}`);
    }
  }
}

function cellName(viewers: number): string {
  return `${viewers} sockets`;
}
