import type * as runtime from "./runtime.ts";

type Runtime = typeof runtime;

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. */
declare const TIFO_SDK_VERSION: string;

let loading: Promise<Runtime> | undefined;

/** Loads Rive's runtime and its WebAssembly from the deployment, once. After a failure, the next animation tries again. */
export function loadRive(origin: string): Promise<Runtime> {
  loading ??= load(origin).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(origin: string): Promise<Runtime> {
  const base = `${origin}/sdk/releases/${TIFO_SDK_VERSION}`;
  const address = `${base}/rive.js`;
  const loaded: unknown = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address);
  if (!isRuntime(loaded)) throw new Error("Tifo: the deployment has no animation runtime");
  loaded.useWasm(`${base}/rive.wasm`);
  return loaded;
}

function isRuntime(module: unknown): module is Runtime {
  return typeof module === "object" && module !== null && "play" in module && "useWasm" in module;
}
