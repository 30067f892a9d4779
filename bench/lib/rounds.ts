import { repeatIfLost } from "./connection-loss.ts";
import { type Usage } from "./machine.ts";
import type { Server } from "./processes.ts";
import { mean, median } from "./stats.ts";

/** A client that is busier than this measures itself; a core that others use more than this measures them. */
const CLIENT_BOUND = 0.8;
const DISTURBED = 0.1;
/** Fewer undisturbed rounds than this are no base for a figure: then all count. */
const ENOUGH = 3;

/** One figure of one contender in one round. */
export interface Reading {
  /** What was measured; the same names for all contenders. */
  cell: string;
  value: number;
  usage: Usage;
}

export interface Contender {
  name: string;
  start(): Promise<Server>;
}

/** Readings by the contender's name; ours has two runs in each round. */
export type Round = Map<string, Reading[]>;

export interface Plan<C extends Contender> {
  /** Ours first. Each round goes through the list and ends with ours again, every time in a fresh process. */
  contenders: readonly [C, ...C[]];
  rounds: number;
  measure: (server: Server, contender: C) => Promise<Reading[]>;
}

export async function playRounds<C extends Contender>({ contenders, rounds, measure }: Plan<C>): Promise<Round[]> {
  const played: Round[] = [];
  for (let number = 1; number <= rounds; number++) {
    played.push(await repeatIfLost(`round ${number}`, () => playRound(contenders, measure)));
    process.stdout.write(`    round ${number} of ${rounds}\n`);
  }
  return played;
}

async function playRound<C extends Contender>(contenders: Plan<C>["contenders"], measure: Plan<C>["measure"]): Promise<Round> {
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

/** The median over the rounds of ours against another's, above 1 where ours is better. */
export interface Ratio {
  median: number;
  min: number;
  max: number;
  /** Rounds that it rests on. */
  rounds: number;
  /** Whether those rounds had the cores to themselves. */
  quiet: boolean;
  clientBound: boolean;
}

export function ratio(rounds: Round[], cell: string, ours: string, other: string, better: "higher" | "lower"): Ratio {
  const pairs = rounds.map((round) => ({ ours: readings(round, ours, cell), other: readings(round, other, cell) }));
  const quietPairs = pairs.filter((pair) => [...pair.ours, ...pair.other].every(({ usage }) => usage.others <= DISTURBED));
  const quiet = quietPairs.length >= Math.min(ENOUGH, rounds.length);
  const used = quiet ? quietPairs : pairs;
  const ratios = used.map((pair) => {
    const [mine, theirs] = [mean(pair.ours.map(({ value }) => value)), mean(pair.other.map(({ value }) => value))];
    return better === "higher" ? mine / theirs : theirs / mine;
  });
  const clientBound = used.some((pair) => [...pair.ours, ...pair.other].some(({ usage }) => usage.client > CLIENT_BOUND));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios), rounds: used.length, quiet, clientBound };
}

/** The median of a contender's figures over all rounds. */
export function typical(rounds: Round[], cell: string, name: string): number {
  return median(rounds.flatMap((round) => readings(round, name, cell).map(({ value }) => value)));
}

/** The greatest share of its core that the client took, over all readings of a contender. */
export function clientShare(rounds: Round[], cell: string, name: string): number {
  return Math.max(...rounds.flatMap((round) => readings(round, name, cell).map(({ usage }) => usage.client)));
}

function readings(round: Round, name: string, cell: string): Reading[] {
  return (round.get(name) ?? []).filter((reading) => reading.cell === cell);
}
