import { BRANCH_SIZE, DIRECT_RELAYS } from "#worker/durable-objects/branch/branch.protocol.ts";
import { CALL_MS, JOIN_MS, SEND_MS } from "#scripts/simulation/costs.ts";
import { ourChannel, HttpChannel, Publisher, type Broadcaster } from "./lib/fan-out.ts";
import { timeToLast } from "./lib/last-viewer.ts";
import { meter } from "./lib/machine.ts";
import { milliseconds, type Result } from "./lib/report.ts";
import { runRounds, typical } from "./lib/rounds.ts";
import { Crowd } from "./lib/viewers.ts";

const ROOM = "room";
const HTML_BYTES = 200;
const BRANCHES = 3;
const RELAYS_PER_BRANCH = 4;
const LAST = "time to last";
const JOIN = "join";

interface Place extends Broadcaster {
  viewers: number;
  /** The relays that the viewers connect to in turn. */
  relays: number[];
}

/** U: a channel with branches, and what the simulation assumes of the platform measured on it. */
export async function tree(quick: boolean): Promise<Result> {
  const viewers = quick ? 600 : 5_000;
  const place = async (name: string, count: number, relays: number[]): Promise<Place> => ({
    ...(await ourChannel(name, viewers)),
    viewers: count,
    relays,
  });
  const behindBranches = Array.from({ length: BRANCHES }, (_, branch) =>
    Array.from({ length: RELAYS_PER_BRANCH }, (__, relay) => DIRECT_RELAYS + branch * BRANCH_SIZE + relay),
  ).flat();
  const whole = await place("tree", viewers, behindBranches);
  const one = await place("one relay", viewers, [0]);
  const half = await place("half on one relay", viewers / 2, [0]);
  const rounds = await runRounds<Place>({
    contenders: [whole, one, half],
    rounds: quick ? 1 : 5,
    measure: async (server, contender) => {
      const crowd = new Crowd(HTML_BYTES);
      const paths = Array.from({ length: contender.viewers }, (_, viewer) => {
        const relay = contender.relays[viewer % contender.relays.length];
        return `/join?room=${ROOM}&device=viewer-${viewer}&relay=${relay}`;
      });
      const used = meter(server.group);
      const started = performance.now();
      await crowd.connect(server.port, paths, 64, "first");
      const joining = { cell: JOIN, value: (performance.now() - started) / contender.viewers, usage: used() };
      const publisher = new Publisher(new HttpChannel(server.port, ROOM));
      const reading = await timeToLast({ server, crowd, publisher, bytes: HTML_BYTES, broadcasts: quick ? 8 : 25 });
      publisher.close();
      crowd.leave();
      return [joining, { cell: LAST, ...reading }];
    },
  });
  const timeOf = ({ name }: Place) => typical(rounds, LAST, name);
  const send = (timeOf(one) - timeOf(half)) / (one.viewers - half.viewers);
  // On one thread, the calls to branches and relays follow each other.
  const calls = BRANCHES + behindBranches.length;
  const call = (timeOf(whole) - timeOf(one)) / (calls - 1);
  const predicted = viewers * SEND_MS + calls * CALL_MS;
  return {
    columns: ["", "measured", "the simulation's"],
    rows: [
      ["one send to one socket", cost(send), cost(SEND_MS)],
      ["one call to an object", cost(call), cost(CALL_MS)],
      ["one viewer joins", cost(typical(rounds, JOIN, whole.name)), cost(JOIN_MS)],
      [
        `${viewers} viewers, ${BRANCHES} branches, ${behindBranches.length} relays, on one thread`,
        milliseconds(timeOf(whole)),
        milliseconds(predicted),
      ],
      [`${viewers} viewers on one relay`, milliseconds(timeOf(one)), milliseconds(viewers * SEND_MS + CALL_MS)],
    ],
    remarks: ["Every viewer received every broadcast once"],
  };
}

function cost(ms: number): string {
  return `${(ms * 1000).toFixed(0)} µs`;
}
