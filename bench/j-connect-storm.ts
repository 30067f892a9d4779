import { z } from "@hono/zod-openapi";
import { type Broadcaster, bareObject, ourChannel } from "./lib/fan-out.ts";
import { ask } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { playRounds } from "./lib/rounds.ts";
import { Crowd } from "./lib/viewers.ts";

const AT_ONCE = 256;
const CELL = "viewers let in";

interface Door extends Broadcaster {
  /** Query strings, one a viewer, made before the storm. */
  paths(server: Server, room: string, viewers: number): Promise<string[]>;
  /** Ours counts a viewer once it has its welcome, the bare object as soon as the socket is open. */
  until: "opened" | "first";
}

/** J: many viewers at once, each with a ticket that is verified, spent and answered by the state of the channel. */
export async function connectStorm(quick: boolean): Promise<Result> {
  const viewers = quick ? 300 : 2_000;
  const ours: Door = { ...(await ourChannel()), paths: pathsWithTickets, until: "first" };
  const plain = await bareObject();
  const bare: Door = {
    ...plain,
    paths: async (_, room, count) => Array.from({ length: count }, (__, viewer) => plain.connectPath(room, viewer)),
    until: "opened",
  };
  const rounds = await playRounds<Door>({
    contenders: [ours, bare],
    rounds: quick ? 1 : 5,
    measure: async (server, door) => {
      // As many as the storm: the runtime compiles what has run often.
      await storm(server, door, "warm-up", viewers);
      const paths = await door.paths(server, "storm", viewers);
      const used = meter(server.group);
      const seconds = await storm(server, door, "storm", viewers, paths);
      return [{ cell: CELL, value: viewers / seconds, usage: used() }];
    },
  });
  return comparisonTable({
    rounds,
    cells: [CELL],
    ours: ours.name,
    others: [bare.name],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.8, floor: 0.65 }),
  });
}

/** Seconds until the last viewer is in; a refused one is an error. */
async function storm(server: Server, door: Door, room: string, viewers: number, paths?: string[]): Promise<number> {
  const crowd = new Crowd(Infinity);
  const doors = paths ?? (await door.paths(server, room, viewers));
  const started = performance.now();
  await crowd.enter(server.port, doors, AT_ONCE, door.until);
  const seconds = (performance.now() - started) / 1000;
  if (door.until === "first") await requireWelcomes(crowd);
  crowd.leave();
  return seconds;
}

async function requireWelcomes(crowd: Crowd): Promise<void> {
  const first = await Promise.all(crowd.viewers.map((viewer) => viewer.first.promise));
  const other = first.find((message) => !message.startsWith('{"type":"welcome"'));
  if (other !== undefined) throw new Error(`Not a welcome: ${other}`);
}

/** The channel has grown to two relays before: what its default capacity needs for the storm. */
async function pathsWithTickets({ port }: Server, room: string, viewers: number): Promise<string[]> {
  await ask(port, "POST", `/relays?room=${room}&n=2`);
  const tickets = z.array(z.string()).parse(JSON.parse(await ask(port, "POST", `/tickets?room=${room}&n=${viewers}`)));
  return tickets.map((ticket, viewer) => `/connect?room=${room}&device=viewer-${viewer}&ticket=${ticket}`);
}
