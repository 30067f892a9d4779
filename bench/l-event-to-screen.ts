import { createHmac } from "node:crypto";
import { CHANNEL_1, loadDemo, SITE_A } from "#db/demo.ts";
import { MATCH_DATA } from "#db/demo/automation.ts";
import { type KnownFacts, updateFacts } from "#worker/services/automation-rules/facts.ts";
import { triggeredRules, indexRules } from "#worker/services/automation-rules/rule-engine.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { type Broadcaster, bareObject, HttpChannel, Publisher } from "./lib/fan-out.ts";
import { HttpConnection, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, milliseconds, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES } from "./lib/runtimes.ts";
import { percentile } from "./lib/stats.ts";
import { Crowd } from "./lib/viewers.ts";

const VIEWERS = 1_000;
/** Shorter than a goal's overlay frame, longer than any other frame. */
const BYTES = 400;
const RULES = 500;
const WARM_UP = 3;

/** A publisher whose call sends one overlay to every viewer. */
interface Source {
  /** Resolves to the time of sending, once the server has responded. */
  publish(): Promise<number>;
  close(): void;
}

/** L: the time from a data provider's signed event to the overlay on the last of 1,000 viewers, compared with a bare object that only broadcasts. */
export async function eventToScreen(quick: boolean): Promise<Result> {
  const bare = await bareObject();
  const folder = newFolder();
  await createDatabase(folder, (database) => loadDemo(database, undefined, { TIFO_SECRET: VARIABLES.TIFO_SECRET ?? "" }));
  const code = await bundle("worker/index.ts");
  const ours: Broadcaster = {
    name: "Tifo",
    start: () => startMiniflare({ code, objects: OBJECTS, variables: { ...VARIABLES, TIFO_SOCKETS_PER_ADDRESS: "0" } }, folder),
    connectPath: (_, viewer) => `/realtime/v1/channels/${CHANNEL_1}?clientId=${SITE_A}&deviceId=viewer-${viewer}`,
    without: "",
  };
  const rounds = await runRounds<Broadcaster>({
    contenders: [ours, bare],
    rounds: quick ? 1 : 5,
    measure: (server, contender) =>
      measure(server, contender, contender === ours ? goalSource(server.port) : bareSource(server.port), quick ? 10 : 100),
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
  await crowd.connect(server.port, paths, 64, "opened");
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

/** Sends goals as the match's provider. Resets the score before each one, because a rule fires when its condition becomes true. */
function goalSource(port: number): Source {
  const connection = new HttpConnection(port);
  const sendScore = async (home: number): Promise<number> => {
    const body = JSON.stringify({
      match: { id: "bench", minute: 17, goal: home > 0 ? "home" : "none", scorer: "Ada Moreno", score: { home } },
    });
    const signature = createHmac("sha256", "tifo_dp_demo").update(body).digest("hex");
    const headers = { "Tifo-Client-Id": SITE_A, "Tifo-Signature": signature };
    const sent = performance.now();
    const response = await connection.send(requestText("POST", `/dataprovider/v1/${MATCH_DATA}/events`, headers, body));
    if (response.status !== 202) throw new Error(`Not accepted: ${response.status} ${response.body}`);
    return sent;
  };
  return { publish: () => sendScore(0).then(() => sendScore(1)), close: () => connection.close() };
}

function bareSource(port: number): Source {
  const publisher = new Publisher(new HttpChannel(port, "room"));
  return { publish: () => publisher.publish(BYTES), close: () => publisher.close() };
}

/** The worst case of a site's rules: all depend on the fact that changes. */
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
  return `${RULES} rules on one fact: ${((user + system) / events / 1000).toFixed(3)} ms of CPU per event in the engine (goal 5 ms)`;
}
