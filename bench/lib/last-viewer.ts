import { setTimeout as sleep } from "node:timers/promises";
import type { Publisher } from "./fan-out.ts";
import { meter, type Usage } from "./machine.ts";
import type { Server } from "./processes.ts";
import { median } from "./stats.ts";
import type { Crowd } from "./viewers.ts";

/** Broadcasts in quicker succession would be coalesced, which another benchmark measures. */
const PACE_MS = 60;
const WARM_UP = 5;

export interface Setting {
  server: Server;
  crowd: Crowd;
  publisher: Publisher;
  /** Bytes of the overlay's HTML. */
  bytes: number;
  broadcasts: number;
}

/** Median time in ms from the publisher's request to the last viewer's frame. Every viewer must receive each broadcast once. */
export async function timeToLast({ server, crowd, publisher, bytes, broadcasts }: Setting): Promise<{ value: number; usage: Usage }> {
  const before = crowd.viewers.map((viewer) => viewer.broadcasts);
  const times: number[] = [];
  let client = 0;
  let used = meter(server.group);
  for (let number = -WARM_UP; number < broadcasts; number++) {
    if (number === 0) used = meter(server.group);
    const cpu = process.cpuUsage();
    const [sent, last] = await Promise.all([publisher.publish(bytes), crowd.receives(crowd.viewers.length)]);
    const { user, system } = process.cpuUsage(cpu);
    if (number >= 0) {
      times.push(last - sent);
      client += (user + system) / 1000;
    }
    await sleep(Math.max(5, sent + PACE_MS - performance.now()));
  }
  const wrong = crowd.viewers.filter((viewer, index) => viewer.broadcasts !== (before[index] ?? 0) + broadcasts + WARM_UP);
  if (wrong.length > 0) throw new Error(`${wrong.length} viewers did not receive every broadcast exactly once`);
  // The client is idle between broadcasts, so only its share of the time during broadcasts shows whether it was the bottleneck.
  const share = client / times.reduce((sum, time) => sum + time, 0);
  return { value: median(times), usage: { ...used(), client: share } };
}
