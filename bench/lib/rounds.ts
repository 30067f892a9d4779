import { repeatIfLost } from "./connection-loss.ts";
import { type Usage } from "./machine.ts";
import type { Server } from "./processes.ts";
import { mean, median } from "./stats.ts";

/** If the client uses more than this share of its core, the client is the bottleneck; if others use more than this share of a core, the round is disturbed. */
const CLIENT_BOUND = 0.8;
const DISTURBED = 0.1;
/** With fewer undisturbed rounds than this, all rounds count. */
const MIN_QUIET_ROUNDS = 3;

/** One result of a contender in a round. */
export interface Reading {
  /** The name of what was measured, the same for all contenders. */
  cell: string;
  value: number;
  usage: Usage;
}

export interface Contender {
  name: string;
  start(): Promise<Server>;
}

/** Readings by contender. Tifo runs twice in each round. */
export type Round = Map<string, Reading[]>;

export interface Plan<C extends Contender> {
  /** Tifo first. Each round runs all contenders and then Tifo again, each time in a new process. */
  contenders: readonly [C, ...C[]];
  rounds: number;
  measure: (server: Server, contender: C) => Promise<Reading[]>;
}

export async function runRounds<C extends Contender>({ contenders, rounds, measure }: Plan<C>): Promise<Round[]> {
  const completed: Round[] = [];
  for (let number = 1; number <= rounds; number++) {
    completed.push(await repeatIfLost(`round ${number}`, () => runRound(contenders, measure)));
    process.stdout.write(`    round ${number} of ${rounds}\n`);
  }
  return completed;
}

async function runRound<C extends Contender>(contenders: Plan<C>["contenders"], measure: Plan<C>["measure"]): Promise<Round> {
  const round: Round = new Map();
  for (const contender of [...contenders, contenders[0]]) {
    const server = await contender.start();
    try {
      round.set(contender.name, [...(round.get(contender.name) ?? []), ...(await measure(server, contender))]);
    } finally {
      await server.stop();
    }
  }
  return round;
}

/** The median over all rounds of Tifo's result relative to another contender's; above 1 if Tifo is better. */
export interface Ratio {
  median: number;
  min: number;
  max: number;
  /** The number of rounds that count. */
  rounds: number;
  /** Whether those rounds were undisturbed. */
  quiet: boolean;
  clientBound: boolean;
}

export function ratio(rounds: Round[], cell: string, ours: string, other: string, better: "higher" | "lower"): Ratio {
  const pairs = rounds.map((round) => ({ ours: readings(round, ours, cell), other: readings(round, other, cell) }));
  const quietPairs = pairs.filter((pair) => [...pair.ours, ...pair.other].every(({ usage }) => usage.others <= DISTURBED));
  const quiet = quietPairs.length >= Math.min(MIN_QUIET_ROUNDS, rounds.length);
  const used = quiet ? quietPairs : pairs;
  const ratios = used.map((pair) => {
    const [mine, theirs] = [mean(pair.ours.map(({ value }) => value)), mean(pair.other.map(({ value }) => value))];
    return better === "higher" ? mine / theirs : theirs / mine;
  });
  const clientBound = used.some((pair) => [...pair.ours, ...pair.other].some(({ usage }) => usage.client > CLIENT_BOUND));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios), rounds: used.length, quiet, clientBound };
}

/** The median of a contender's results over all rounds. */
export function typical(rounds: Round[], cell: string, name: string): number {
  return median(rounds.flatMap((round) => readings(round, name, cell).map(({ value }) => value)));
}

/** The largest share of its core that the client used, over all readings of a contender. */
export function clientShare(rounds: Round[], cell: string, name: string): number {
  return Math.max(...rounds.flatMap((round) => readings(round, name, cell).map(({ usage }) => usage.client)));
}

function readings(round: Round, name: string, cell: string): Reading[] {
  return (round.get(name) ?? []).filter((reading) => reading.cell === cell);
}
