import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import type { Plugin } from "vite";

const SHELL = fileURLToPath(new URL("../src/components/shell/", import.meta.url));
const MODULES: Record<string, () => Promise<string>> = {
  /** For the head of every page. */
  "virtual:tifo/error-watcher": async () => {
    const source = await readFile(`${SHELL}watch-errors.ts`, "utf8");
    const { code } = await transform(source, { loader: "ts", minify: true, target: "es2022" });
    // A script of the head isn't a module, and has no path of its own.
    return code.replace("export{};", "").replace("./crash.ts", "/crash.js");
  },
  /** Has the same address in every build: the watcher can't know the one that a bundler would choose. */
  "virtual:tifo/crash": async () => {
    const entryPoints = [`${SHELL}crash.ts`];
    const { outputFiles } = await build({ entryPoints, bundle: true, minify: true, write: false, format: "esm", target: "es2022" });
    return outputFiles[0]?.text ?? "";
  },
};

/** Provides the script that watches for errors, and the one that shows them, as modules with their text. */
export function errorWatcher(): Plugin {
  return {
    name: "tifo-error-watcher",
    resolveId: (id) => (Object.hasOwn(MODULES, id) ? `\0${id}` : undefined),
    async load(id) {
      const script = id.startsWith("\0") ? MODULES[id.slice(1)] : undefined;
      return script && `export default ${JSON.stringify((await script()).trim())};`;
    },
  };
}
