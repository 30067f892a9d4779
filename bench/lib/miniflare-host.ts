// Serves a Worker with Miniflare in a separate process: node bench/lib/miniflare-host.ts <options file>
import { readFileSync } from "node:fs";
import { z } from "@hono/zod-openapi";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const Options = z.object({
  code: z.string(),
  objects: z.record(z.string(), z.string()),
  variables: z.record(z.string(), z.string()),
  folder: z.string(),
  compatibilityDate: z.string(),
  compatibilityFlags: z.array(z.string()),
});

const worker = Options.parse(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: worker.code,
    host: "127.0.0.1",
    port: 0,
    cf: false,
    compatibilityDate: worker.compatibilityDate,
    compatibilityFlags: worker.compatibilityFlags,
    bindings: worker.variables,
    durableObjects: Object.fromEntries(Object.entries(worker.objects).map(([name, className]) => [name, { className, useSQLite: true }])),
    d1Databases: { DB: "bench" },
    resourcePersistencePath: worker.folder,
    // The limit is never reached; the binding is there because every request passes through it.
    ratelimits: { FLOOD_GUARD: { namespace_id: "1001", simple: { limit: 1_000_000_000, period: 10 } } },
  }),
);
const url = await miniflare.ready;
process.send?.(Number(url.port));
