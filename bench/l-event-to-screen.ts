import { createHmac } from "node:crypto";
import { CHANNEL_1, loadDemo, SITE_A } from "#db/demo.ts";
import { MATCH_DATA } from "#db/demo/automation.ts";
import { type KnownFacts, updateFacts } from "#worker/services/automation-rules/facts.ts";
import { triggeredRules, indexRules } from "#worker/services/automation-rules/rule-engine.ts";
import { bundle } from "./lib/bundle.ts";
import { openDatabase } from "./lib/database.ts";
import { type Broadcaster, bareObject, Publisher } from "./lib/fan-out.ts";
import { HttpConnection, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, milliseconds, type Result } from "./lib/report.ts";
import { playRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";
import { percentile } from "./lib/stats.ts";
import { Crowd } from "./lib/viewers.ts";

const VIEWERS = 1_000;
/** Shorter than the overlay of a goal, longer than all that isn't one. */
const BYTES = 400;
const RULES = 500;
const WARM_UP = 3;

/** A publisher whose call makes one overlay come to every viewer. */
interface Source {
  /** Resolves with the moment of sending, once the server has answered. */
  publish(): Promise<number>;
  close(): void;
}

/** L: a signed event of a data provider, timed until the last of 1,000 viewers has the overlay, against a bare object that is told to broadcast. */
export async function eventToScreen(quick: boolean): Promise<Result> {
  const bare = await bareObject();
  const folder = newFolder();
  await openDatabase(folder, (database) => loadDemo(database, undefined, { TIFO_SECRET: VARIABLES.TIFO_SECRET ?? "" }));
  const code = await bundle("worker/index.ts");
  const ours: Broadcaster = {
    name: "Tifo",
    start: () => startMiniflare({ code, objects: OBJECTS, variables: { ...VARIABLES, TIFO_SOCKETS_PER_ADDRESS: "0" } }, folder),
    connectPath: (_, viewer) => `/realtime/v1/channels/${CHANNEL_1}?clientId=${SITE_A}&deviceId=viewer-${viewer}`,
  };
  const rounds = await playRounds<Broadcaster>({
    contenders: [ours, bare],
    rounds: quick ? 1 : 5,
    measure: (server, contender) =>
      measure(server, contender, contender === ours ? tellGoals(server.port) : broadcastBare(server.port), quick ? 10 : 100),
  });
  const table = comparisonTable({
    rounds,
    cells: ["p50", "p99"],
    ours: ours.name,
    others: [bare.name],
    better: "lower",
    figure: milliseconds,
    goals: () => undefined,
  });
  return { ...table, remarks: [`${VIEWERS} viewers of one channel; the goal is a p99 under 500 ms`, engineRemark()] };
}

async function measure(server: Server, contender: Broadcaster, source: Source, broadcasts: number): Promise<Reading[]> {
  const crowd = new Crowd(BYTES, contender.dialect);
  const paths = Array.from({ length: VIEWERS }, (_, viewer) => contender.connectPath("room", viewer));
  await crowd.enter(server.port, paths, 64, "opened");
  const times: number[] = [];
  const used = meter(server.group);
  for (let number = -WARM_UP; number < broadcasts; number++) {
    const [sent, last] = await Promise.all([source.publish(), crowd.receives(VIEWERS)]);
    if (number >= 0) times.push(last - sent);
  }
  source.close();
  crowd.leave();
  const usage = { ...used(), client: 0 };
  return [
    { cell: "p50", value: percentile(times, 0.5), usage },
    { cell: "p99", value: percentile(times, 0.99), usage },
  ];
}

/** The match's provider: before each goal it takes the score back, since a rule fires on the edge. */
function tellGoals(port: number): Source {
  const connection = new HttpConnection(port);
  const tell = async (home: number): Promise<number> => {
    const body = JSON.stringify({
      match: { id: "bench", minute: 17, goal: home > 0 ? "home" : "none", scorer: "Ada Moreno", score: { home } },
    });
    const signature = createHmac("sha256", "tifo_dp_demo").update(body).digest("hex");
    const headers = { "Tifo-Client-Id": SITE_A, "Tifo-Signature": signature };
    const sent = performance.now();
    const answer = await connection.send(requestText("POST", `/dataprovider/v1/${MATCH_DATA}/events`, headers, body));
    if (answer.status !== 202) throw new Error(`Not taken: ${answer.status} ${answer.body}`);
    return sent;
  };
  return { publish: () => tell(0).then(() => tell(1)), close: () => connection.close() };
}

function broadcastBare(port: number): Source {
  const publisher = new Publisher(port, "room");
  return { publish: () => publisher.publish(BYTES), close: () => publisher.close() };
}

/** What the rules of a site cost at their worst: all wait for the fact that the event tells. */
function engineRemark(): string {
  const rules = Array.from({ length: RULES }, (_, value) => ({
    id: String(value),
    jsonRule: {
      trigger: { dataProviderId: "p", fact: "match.score.home", operator: "greater_than", value, behavior: "immediate" } as const,
    },
  }));
  const waiting = indexRules(rules).get("p") ?? new Map<string, never>();
  let known: KnownFacts = {};
  const events = 2_000;
  const before = process.cpuUsage();
  for (let number = 0; number < events; number++) {
    const event = { id: String(number).padStart(24, "0"), at: number, data: { match: { score: { home: number % RULES } } } };
    triggeredRules(waiting, known, event, 60);
    known = updateFacts(known, ["match.score.home"], event);
  }
  const { user, system } = process.cpuUsage(before);
  return `${RULES} rules on one fact: ${((user + system) / events / 1000).toFixed(3)} ms of CPU an event in the engine (goal 5 ms)`;
}
