import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { runOrFail } from "#scripts/lib/command.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { bundle } from "./lib/bundle.ts";
import { repeatIfLost } from "./lib/connection-loss.ts";
import { HttpConnection, requestText } from "./lib/http.ts";
import { groupSeconds } from "./lib/machine.ts";
import { milliseconds, type Result } from "./lib/report.ts";
import { newFolder, OBJECTS, startWorkerd, VARIABLES, type Worker } from "./lib/runtimes.ts";
import { median } from "./lib/stats.ts";

const MAX_BYTES = 500_000;
const MAX_MS = 200;

/** N: the size of the deployed bundle, and the CPU time from the runtime's start to the first response, minus that of an empty Worker. */
export async function startUp(quick: boolean): Promise<Result> {
  const folder = newFolder();
  // Wrangler requires the assets folder, which only a build of the docs creates.
  mkdirSync(join(ROOT, "docs/dist"), { recursive: true });
  await runOrFail("wrangler", ["deploy", "--dry-run", "--outdir", folder]);
  const code = readFileSync(join(folder, "index.js"));
  const compressed = gzipSync(code).length;

  const ours: Worker = { code: await bundle("worker/index.ts"), objects: OBJECTS, variables: VARIABLES };
  const empty: Worker = { code: await bundle("bench/workers/empty.ts"), objects: {}, variables: {} };
  const extra: number[] = [];
  for (let round = 0; round < (quick ? 3 : 11); round++)
    extra.push(await repeatIfLost(`round ${round + 1}`, async () => (await cpuToFirstResponse(ours)) - (await cpuToFirstResponse(empty))));
  const startUpMs = median(extra);
  const range = `${milliseconds(Math.min(...extra))} to ${milliseconds(Math.max(...extra))}`;
  return {
    columns: ["", "figure", "limit"],
    rows: [
      [
        "bundle",
        `${kilobytes(code.length)}, ${kilobytes(compressed)} gzip`,
        limit(compressed <= MAX_BYTES, `${kilobytes(MAX_BYTES)} gzip`),
      ],
      ["start-up CPU", `${milliseconds(startUpMs)} (${range})`, limit(startUpMs <= MAX_MS, `${MAX_MS} ms`)],
    ],
  };
}

/** Milliseconds of CPU. */
async function cpuToFirstResponse(worker: Worker): Promise<number> {
  const server = await startWorkerd(worker);
  const connection = new HttpConnection(server.port);
  try {
    // A preflight request, to which Tifo responds before it needs any binding.
    await connection.send(requestText("OPTIONS", "/health"));
    return groupSeconds(server.group) * 1000;
  } finally {
    connection.close();
    await server.stop();
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`;
}

function limit(kept: boolean, text: string): string {
  return `${text}: ${kept ? "kept" : "**missed**"}`;
}
