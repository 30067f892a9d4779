import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { runOrFail } from "./command.ts";
import { ROOT } from "./root.mjs";

/** Bundles the Worker as for a deployment into a file, with its local bindings, for servers that start without compiling it. */
export async function bundleWorker(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tifo-bundle-"));
  try {
    await runOrFail("wrangler", ["deploy", "--dry-run", "--outdir", folder]);
    const code = readFileSync(join(folder, "index.js"), "utf8");
    const { workerOptions: worker, externalWorkers } = unstable_getMiniflareWorkerOptions(join(ROOT, "wrangler.toml"));
    writeFileSync(file, JSON.stringify({ code, worker, externalWorkers }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
