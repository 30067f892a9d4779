import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { bundle } from "./lib/bundle.ts";
import { ask, HttpConnection, type HttpResponse, requestText } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, startWorkerd, VARIABLES, type Worker } from "./lib/runtimes.ts";

const VOTERS = 20_000;
const CONNECTIONS = 32;

const Tally = z.record(z.string(), z.number());

/** K: one vote each of many accounts through Tifo's counters, compared with one bare counting object; and the tally after a hard kill, with retries. */
export async function votes(quick: boolean): Promise<Result> {
  const voters = quick ? 2_000 : VOTERS;
  const ours = await counters();
  const bare = { code: await bundle("bench/workers/vote-box.ts"), objects: { BOX: "Box" }, variables: {} };
  const rounds = await runRounds({
    contenders: [
      { name: "Tifo", start: () => startWorkerd(ours) },
      { name: "bare object", start: () => startWorkerd(bare) },
    ],
    rounds: quick ? 1 : 5,
    measure: (server) => measure(server, voters),
  });
  const table = comparisonTable({
    rounds,
    cells: ["votes"],
    ours: "Tifo",
    others: ["bare object"],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.7, floor: 0.5 }),
  });
  return { ...table, remarks: [await countOverKill(voters)] };
}

async function counters(): Promise<Worker> {
  return { code: await bundle("bench/workers/votes.ts"), objects: { POLL_COUNTER: "PollCounter" }, variables: VARIABLES };
}

async function measure(server: Server, voters: number): Promise<Reading[]> {
  await ask(server.port, "GET", "/begin");
  const used = meter(server.group);
  const started = performance.now();
  await cast(server, accounts(voters));
  const value = voters / ((performance.now() - started) / 1000);
  const usage = used();
  await requireTally(server, voters);
  return [{ cell: "votes", value, usage }];
}

/** Kills the server halfway. Votes without a response are retried, and every tenth of the others too. Throws if the tally is wrong. */
export async function countOverKill(voters: number): Promise<string> {
  const worker = await counters();
  const folder = newFolder();
  const first = await startWorkerd(worker, folder);
  await ask(first.port, "GET", "/begin");
  const all = accounts(voters);
  const counted = new Set<string>();
  const casting = cast(first, all, (account) => counted.add(account)).catch(() => undefined);
  while (counted.size < voters / 2) await sleep(5);
  await first.stop();
  await casting;
  const [before, second] = [counted.size, await startWorkerd(worker, folder)];
  await cast(
    second,
    all.filter((account, index) => !counted.has(account) || index % 10 === 0),
  );
  try {
    await requireTally(second, voters);
    return `killed after ${before} of ${voters} votes were confirmed; after the retries, the tally is exact`;
  } finally {
    await second.stop();
  }
}

async function requireTally(server: Server, voters: number): Promise<void> {
  // A sum is recomputed if it is older than half a second.
  await sleep(600);
  const tally = Tally.parse(JSON.parse(await ask(server.port, "GET", "/tally")));
  const total = Object.values(tally).reduce((sum, votes) => sum + votes, 0);
  if (total !== voters) throw new Error(`${total} votes counted of ${voters}`);
}

/** Votes in a closed loop over all connections, and fails if a vote isn't counted. The runtime sometimes drops a connection; the vote is then retried once. */
async function cast(server: Server, voters: string[], counted?: (account: string) => void): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    let connection = new HttpConnection(server.port);
    const vote = (account: string): Promise<HttpResponse> => connection.send(requestText("POST", `/vote?account=${account}`));
    const retry = (account: string): Promise<HttpResponse> => {
      connection = new HttpConnection(server.port);
      return vote(account);
    };
    try {
      for (let account = voters[next++]; account !== undefined; account = voters[next++]) {
        const voter = account;
        const { body } = await vote(voter).catch(() => retry(voter));
        if (body !== "counted") throw new Error(`Not counted: ${body}`);
        counted?.(voter);
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
}

function accounts(count: number): string[] {
  return Array.from({ length: count }, (_, number) => number.toString(16).padStart(24, "0"));
}
