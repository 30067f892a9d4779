import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { ROOT } from "./lib/root.mjs";

/** The modules that are evaluated when an isolate starts: what is imported statically, from the entry on. */
let atStart: ReadonlySet<string>;

beforeAll(async () => {
  const { metafile } = await build({
    ...{ entryPoints: [join(ROOT, "worker/index.ts")], absWorkingDir: ROOT, bundle: true, write: false, metafile: true },
    ...{ format: "esm", conditions: ["workerd", "worker", "browser"], external: ["cloudflare:*", "node:*"], logLevel: "error" },
  });
  const found = new Set(["worker/index.ts"]);
  for (const module of found)
    for (const { path, kind } of metafile.inputs[module]?.imports ?? []) if (kind !== "dynamic-import") found.add(path);
  atStart = found;
});

// A viewer's first request may be what starts an isolate, and each of these takes it milliseconds.
test.each([
  ["the catalogue of events with the schemas of all areas", /^worker\/services\/event-catalogue\/(event-catalogue|effects)\.ts$/],
  ["routes", /^worker\/routes\/.+\/routes\.ts$/],
  [
    "jobs and what is done on a schedule",
    /^worker\/(queues\/jobs|scheduled|services\/(schedule\/run|rundowns\/due|automation-rules\/firings))\.ts$/,
  ],
  [
    "libraries of single areas",
    /node_modules\/(stripe|@modelcontextprotocol|parse5|temporal-polyfill|@zip\.js|ical-generator|@handlebars)\//,
  ],
])("an isolate starts without %s", (_what, pattern) => {
  expect([...atStart].filter((module) => pattern.test(module))).toEqual([]);
});

test("an isolate starts with what serves requests and connections", () => {
  expect([...atStart]).toEqual(expect.arrayContaining(["worker/app.ts", "worker/durable-objects/relay/relay.ts"]));
});
