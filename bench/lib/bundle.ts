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
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, entry)],
    bundle: true,
    minify: config.minify,
    plugins: [aliases],
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["browser", "module", "main"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
