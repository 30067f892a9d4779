import { createRequire } from "node:module";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { ROOT } from "#scripts/lib/root.mjs";
import { config } from "./config.ts";

// Unlike wrangler's, esbuild's aliases don't accept relative paths.
const aliases: Plugin = {
  name: "aliases",
  setup(plugin) {
    const project = createRequire(join(ROOT, "package.json"));
    plugin.onResolve({ filter: /./ }, ({ path }) => {
      const other = config.alias[path];
      return other === undefined ? undefined : { path: project.resolve(other) };
    });
  },
};

/** Bundles a Worker, by its path in the project, like wrangler: one module, with the platform's imports external. */
export async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await run(entry);
  return outputFiles[0]?.text ?? "";
}

/** The modules that a Worker evaluates when it starts, and their bytes in the bundle: those that only dynamic imports reach come later. */
export async function startUpModules(entry: string): Promise<Map<string, number>> {
  const { metafile } = await run(entry);
  const bytes = new Map(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs)));
  const modules = new Map<string, number>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    modules.set(path, bytes.get(path)?.bytesInOutput ?? 0);
    const imports = metafile.inputs[path]?.imports ?? [];
    waiting.push(...imports.filter(({ kind, external }) => kind !== "dynamic-import" && !external).map((found) => found.path));
  }
  return modules;
}

function run(entry: string) {
  return build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    minify: config.minify,
    plugins: [aliases],
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["browser", "module", "main"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "error",
  });
}
