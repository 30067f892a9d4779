import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../scripts/lib/root.mjs";

/** Bundles a Worker, by its path in the project, as wrangler does: one module, the platform's own imports left alone. */
export async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, entry)],
    bundle: true,
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
