import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Plugin } from "vite";

const MODULE = "virtual:tifo/sdk-sizes";
const SDK = fileURLToPath(new URL("../../sdk", import.meta.url));

/** What a guide states the size of: an export of an entry point of the SDK, without the rest. */
const PARTS = {
  hlsJs: "players",
  shakaPlayer: "players",
  videoJs: "players",
  dashJs: "players",
  videoElement: "players",
  createCues: "cues",
} as const;

/** The bytes that each part adds to an app: bundled alone, minified and gzipped. */
export async function sdkSizes(): Promise<Record<string, number>> {
  const sizes = Object.entries(PARTS).map(async ([name, entry]): Promise<[string, number]> => {
    const { outputFiles } = await build({
      stdin: { contents: `export { ${name} } from "./${entry}/index.ts";`, resolveDir: SDK, loader: "ts" },
      ...{ bundle: true, minify: true, write: false, format: "esm", target: "es2022", legalComments: "none" },
    });
    return [name, gzipSync(outputFiles[0]?.contents ?? new Uint8Array()).length];
  });
  return Object.fromEntries(await Promise.all(sizes));
}

/** Provides these sizes as the module `virtual:tifo/sdk-sizes`, so that no guide has a figure that was typed. */
export function measuredSizes(): Plugin {
  return {
    name: "tifo-sdk-sizes",
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : undefined),
    load: async (id) => (id === `\0${MODULE}` ? `export default ${JSON.stringify(await sdkSizes())};` : undefined),
  };
}
