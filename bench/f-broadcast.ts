import { setTimeout as sleep } from "node:timers/promises";
import { type Broadcaster, bareObject, openChannel, ourChannel, partyserver, plainWs, Publisher, socketIo } from "./lib/fan-out.ts";
import { timeToLast } from "./lib/last-viewer.ts";
import type { Server } from "./lib/processes.ts";
import { installedPeers } from "./lib/peers.ts";
import { contenderTable, milliseconds, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { Crowd } from "./lib/viewers.ts";

const BYTES = [200, 2_000];

/** F: the time for a broadcast to reach the last of a channel's sockets. */
export async function broadcast(quick: boolean): Promise<Result> {
  const sizes = quick ? [100, 500] : [100, 500, 2_000];
  const { peers, missing } = installedPeers();
  const [ours, ...others] = [
    await ourChannel("Tifo", 2_500),
    await bareObject(),
    await partyserver(),
    socketIo(),
    plainWs(),
    ...peers,
  ] as const;
  const rounds = await runRounds<Broadcaster>({
    contenders: [ours, ...others],
    rounds: quick ? 1 : 4,
    measure: async (server, contender) => {
      const readings: Reading[] = [];
      for (const viewers of sizes) readings.push(...(await measureRoom(server, contender, viewers, quick ? 8 : 25)));
      return readings;
    },
  });
  const table = contenderTable({
    rounds,
    cells: sizes.flatMap((viewers) => BYTES.map((bytes) => cellName(viewers, bytes))),
    ours: ours.name,
    others: others.map(({ name }) => name),
    better: "lower",
    figure: milliseconds,
    goals: (cell, other) => {
      if (cell.startsWith("100 ")) return undefined;
      if (other === "bare object") return { goal: 0.95, floor: 0.88 };
      return other === "partyserver" ? { goal: 1.05, floor: 1 } : undefined;
    },
    notes: { title: "does without", of: (name) => others.find((other) => other.name === name)?.without ?? "" },
  });
  return { ...table, remarks: missing.map((reason) => `left out: ${reason}`) };
}

async function measureRoom(server: Server, contender: Broadcaster, viewers: number, broadcasts: number): Promise<Reading[]> {
  const room = `room-${viewers}`;
  const crowd = new Crowd(Math.min(...BYTES), contender.dialect);
  const paths = Array.from({ length: viewers }, (_, viewer) => contender.connectPath(room, viewer));
  await crowd.connect(server.port, paths, 64, contender.dialect ? "first" : "opened");
  // Some subscribe after they have answered.
  if (contender.dialect) await sleep(1_000);
  const publisher = new Publisher(openChannel(contender, server.port, room), contender);
  const readings: Reading[] = [];
  for (const bytes of BYTES) {
    readings.push({ cell: cellName(viewers, bytes), ...(await timeToLast({ server, crowd, publisher, bytes, broadcasts })) });
  }
  publisher.close();
  crowd.leave();
  return readings;
}

function cellName(viewers: number, bytes: number): string {
  return `${viewers} sockets, ${bytes} B`;
}
