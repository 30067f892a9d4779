import { bundle } from "./lib/bundle.ts";
import { ask } from "./lib/http.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, startMiniflare, VARIABLES } from "./lib/runtimes.ts";
import { startSink } from "./lib/sink.ts";

const CELL = "events";
const WARM_UP = 500;

/** M: delivers events of one endpoint to a local receiver, signed, in order per resource and with every attempt recorded, compared with an object that only sends. */
export async function webhooks(quick: boolean): Promise<Result> {
  const [ours, bare] = ["Tifo", "bare object"];
  const variables = { ...VARIABLES, TIFO_DEVELOPMENT: "true" };
  const code = await bundle("bench/workers/webhooks.ts");
  const bareCode = await bundle("bench/workers/bare-sender.ts");
  const count = quick ? 500 : 5_000;
  const rounds = await runRounds({
    contenders: [
      { name: ours, start: () => startMiniflare({ code, objects: { ENDPOINT: "Endpoint" }, variables }, newFolder()) },
      { name: bare, start: () => startMiniflare({ code: bareCode, objects: { SENDER: "Sender" }, variables: {} }, newFolder()) },
    ],
    rounds: quick ? 2 : 5,
    measure: (server) => measure(server, count),
  });
  const table = comparisonTable({
    rounds,
    cells: [CELL],
    ours,
    others: [bare],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.7, floor: 0.5 }),
  });
  return { ...table, remarks: [`${count} events of 100 resources, six in parallel, about 1 kB each`] };
}

async function measure(server: Server, count: number): Promise<Reading[]> {
  const receiver = await startSink();
  try {
    const prepare = (events: number) => ask(server.port, "GET", `/prepare?n=${events}`);
    const deliver = () => ask(server.port, "GET", `/deliver?url=${encodeURIComponent(receiver.url)}`);
    await prepare(WARM_UP);
    await deliver();
    await prepare(count);
    const stop = meter(server.group);
    const started = performance.now();
    await deliver();
    const seconds = (performance.now() - started) / 1000;
    return [{ cell: CELL, value: count / seconds, usage: stop() }];
  } finally {
    receiver.stop();
  }
}
