// Serves a bundled Worker in a process of its own: node scripts/lib/serve-bundle.ts <bundle> <state folder> <port> <variables as JSON>.
// It starts in less than half of the time of `wrangler dev`, which compiles the Worker and passes each request through a second runtime.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import { ROOT } from "./root.mjs";

/** As wrangler has made them; Miniflare validates them. */
const WorkerOptions = z.custom<V4WorkerOptions>((value) => typeof value === "object" && value !== null);
const Variables = z.record(z.string(), z.string());
const Bundle = z.object({ code: z.string(), worker: WorkerOptions, externalWorkers: z.array(WorkerOptions) });

const [file = "", state = "", port = "0", variables = "{}"] = process.argv.slice(2);
const { code, worker, externalWorkers } = Bundle.parse(JSON.parse(readFileSync(file, "utf8")));

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    rootPath: ROOT,
    host: "127.0.0.1",
    port: Number(port),
    // No request for a sample of `request.cf`.
    cf: false,
    unsafeTriggerHandlers: true,
    logRequests: false,
    handleStructuredLogs: ({ level, message }) => {
      if (level === "error" || level === "warn") process.stderr.write(`${message}\n`);
    },
    resourcePersistencePath: join(state, "v3"),
    workers: [
      {
        ...worker,
        name: "tifo",
        modules: [{ type: "ESModule", path: "index.js", contents: code }],
        bindings: { ...worker.bindings, ...Variables.parse(JSON.parse(variables)) },
      },
      ...externalWorkers,
    ],
  }),
);
process.once("SIGTERM", () => void miniflare.dispose().finally(() => process.exit()));
const url = await miniflare.ready;
process.send?.({ event: "DEV_SERVER_READY", port: Number(url.port) });
