import { readdirSync, readFileSync } from "node:fs";
import { loadDemo, SITE_A } from "#db/demo.ts";
import { bundle } from "./lib/bundle.ts";
import { openDatabase } from "./lib/database.ts";
import { meter } from "./lib/machine.ts";
import type { Server } from "./lib/processes.ts";
import { comparisonTable, perSecond, type Result } from "./lib/report.ts";
import { playRounds, type Reading } from "./lib/rounds.ts";
import { newFolder, OBJECTS, startMiniflare, VARIABLES, type Worker } from "./lib/runtimes.ts";
import { median } from "./lib/stats.ts";

const MOST = 100_000;
const FEW = 1_000;

/** P: access codes in bulk by the whole Worker, streamed to the last byte, against the bare batch of inserts; and what memory many take more than few. */
export async function bulkCodes(quick: boolean): Promise<Result> {
  const [ours, bare] = ["Tifo", "bare batched inserts"];
  const workers = {
    ours: { code: await bundle("worker/index.ts"), objects: OBJECTS, variables: VARIABLES },
    bare: { code: await bundle("bench/workers/insert-codes.ts"), objects: {}, variables: {} },
  };
  const grown = new Map<string, number[]>();
  const rounds = await playRounds({
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
  return { ...table, remarks: [`Peak resident memory of ${MOST} codes above that of ${FEW}, database included: ${growth}`] };
}

/** Each server has a database of its own, since the rows of one round would slow down the next. */
async function startFresh(worker: Worker): Promise<Server> {
  const folder = newFolder();
  await openDatabase(folder, loadDemo);
  return startMiniflare(worker, folder);
}

async function measure({ port, group }: Server, create: (port: number, qty: number) => Promise<void>): Promise<Reading> {
  const used = meter(group);
  const started = performance.now();
  await create(port, MOST);
  return { cell: "codes", value: MOST / ((performance.now() - started) / 1000), usage: used() };
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

/** Megabytes at most in memory of the group's processes, of the greatest of them; 0 where there is no /proc. */
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
    // Node.js only starts the runtime here.
    if (!status.includes("workerd")) return 0;
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
