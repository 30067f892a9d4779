import { readdirSync, readFileSync } from "node:fs";
import { loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { createDatabase } from "./lib/database.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { runRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES, type Worker } from "./lib/runtimes.ts";
import { median } from "./lib/stats.ts";

const MANY = 100_000;
const FEW = 1_000;

/** P: access codes created in bulk by the full Worker, streamed to the last byte, compared with a bare batch of inserts; and the extra memory of many codes over few. */
export async function bulkCodes(quick: boolean): Promise<Result> {
  const [ours, bare] = ["Tifo", "bare batched inserts"];
  const workers = {
    ours: { code: await bundle("worker/index.ts"), objects: OBJECTS, variables: VARIABLES },
    bare: { code: await bundle("bench/workers/insert-codes.ts"), objects: {}, variables: {} },
  };
  const grown = new Map<string, number[]>();
  const rounds = await runRounds({
    contenders: [
      { name: ours, start: () => startFresh(workers.ours), create: createOurs },
      { name: bare, start: () => startFresh(workers.bare), create: createBare },
    ],
    rounds: quick ? 2 : 5,
    measure: async (server, { name, create }) => {
      await create(server.port, FEW);
      const before = peakMemory(server.group);
      const reading = await measure(server, create);
      grown.set(name, [...(grown.get(name) ?? []), peakMemory(server.group) - before]);
      return [reading];
    },
  });
  const table = comparisonTable({
    rounds,
    cells: ["codes"],
    ours,
    others: [bare],
    better: "higher",
    figure: perSecond,
    goals: () => ({ goal: 0.5, floor: 0.5 }),
  });
  const growth = [...grown].map(([name, values]) => `${name} ${median(values).toFixed(0)} MB`).join(", ");
  return { ...table, remarks: [`Peak resident memory with ${MANY} codes beyond that with ${FEW}, including the database: ${growth}`] };
}

/** Each server has its own database, because the rows of one round would slow down the next. */
async function startFresh(worker: Worker): Promise<Server> {
  const folder = newFolder();
  await createDatabase(folder, loadDemo);
  return startMiniflare(worker, folder);
}

async function measure({ port, group }: Server, create: (port: number, qty: number) => Promise<void>): Promise<Reading> {
  const used = meter(group);
  const started = performance.now();
  await create(port, MANY);
  return { cell: "codes", value: MANY / ((performance.now() - started) / 1000), usage: used() };
}

async function createOurs(port: number, qty: number): Promise<void> {
  const headers = { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
  const body = JSON.stringify({ qty, sku: "season-pass" });
  const response = await fetch(`http://127.0.0.1:${port}/accesscode/v1/bulk?kind=csv`, { method: "POST", headers, body });
  const lines = (await response.text()).split("\r\n").length;
  if (lines !== qty + 2) throw new Error(`${lines} lines of ${qty} codes, status ${response.status}`);
}

async function createBare(port: number, qty: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/?qty=${qty}`, { method: "POST" });
  await response.text();
  if (response.status !== 200) throw new Error(`Status ${response.status}`);
}

/** Peak memory in MB of the group's largest process; 0 without /proc. */
function peakMemory(group: number): number {
  const peaks = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => peakOf(pid, group));
  return Math.max(0, ...peaks);
}

function peakOf(pid: string, group: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    if (Number(fields[2]) !== group) return 0;
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    // Only the runtime counts; Node.js just starts it.
    if (!status.includes("workerd")) return 0;
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
