import { z } from "@hono/zod-openapi";
import { type Broadcaster, bareObject, ourChannel } from "./lib/fan-out.ts";
import { ask } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds } from "./lib/rounds.ts";
import { Crowd } from "./lib/viewers.ts";

const AT_ONCE = 256;
const CELL = "viewers admitted";

interface Entrant extends Broadcaster {
  /** One path per viewer, created before the storm. */
  paths(server: Server, room: string, viewers: number): Promise<string[]>;
  /** Tifo admits a viewer with its welcome, the bare object as soon as the socket is open. */
  until: "opened" | "first";
}

/** J: many viewers connect at once, each with a ticket that is verified and used up, and receives the channel's state. */
export async function connectStorm(quick: boolean): Promise<Result> {
  const viewers = quick ? 300 : 2_000;
  const ours: Entrant = { ...(await ourChannel()), paths: pathsWithTickets, until: "first" };
  const plain = await bareObject();
  const bare: Entrant = {
    ...plain,
    paths: async (_, room, count) => Array.from({ length: count }, (__, viewer) => plain.connectPath(room, viewer)),
    until: "opened",
  };
  const rounds = await runRounds<Entrant>({
    contenders: [ours, bare],
    rounds: quick ? 1 : 5,
    measure: async (server, contender) => {
      // As many viewers as the storm, because the runtime compiles hot code.
      await storm(server, contender, "warm-up", viewers);
      const paths = await contender.paths(server, "storm", viewers);
      const used = meter(server.group);
      const seconds = await storm(server, contender, "storm", viewers, paths);
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

/** Seconds until the last viewer is admitted; a rejected one is an error. */
async function storm(server: Server, contender: Entrant, room: string, viewers: number, prepared?: string[]): Promise<number> {
  const crowd = new Crowd(Infinity);
  const paths = prepared ?? (await contender.paths(server, room, viewers));
  const started = performance.now();
  await crowd.connect(server.port, paths, AT_ONCE, contender.until);
  const seconds = (performance.now() - started) / 1000;
  if (contender.until === "first") await requireWelcomes(crowd);
  crowd.leave();
  return seconds;
}

async function requireWelcomes(crowd: Crowd): Promise<void> {
  const first = await Promise.all(crowd.viewers.map((viewer) => viewer.first.promise));
  const other = first.find((message) => !message.startsWith('{"type":"welcome"'));
  if (other !== undefined) throw new Error(`Not a welcome: ${other}`);
}

/** Grows the channel to two relays first, which the storm needs at the default capacity. */
async function pathsWithTickets({ port }: Server, room: string, viewers: number): Promise<string[]> {
  await ask(port, "POST", `/relays?room=${room}&n=2`);
  const tickets = z.array(z.string()).parse(JSON.parse(await ask(port, "POST", `/tickets?room=${room}&n=${viewers}`)));
  return tickets.map((ticket, viewer) => `/connect?room=${room}&device=viewer-${viewer}&ticket=${ticket}`);
}
