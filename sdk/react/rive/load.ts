import type * as runtime from "./runtime.ts";

type Runtime = typeof runtime;

/** Defined by whoever bundles these sources: scripts/build-sdk.ts and astro.config.mjs. */
declare const TIFO_SDK_VERSION: string;

let loading: Promise<Runtime> | undefined;

/** Rive's runtime, once; from the deployment, with its WebAssembly beside it. A failure is forgotten, so that the next animation tries again. */
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
  if (!isRuntime(loaded)) throw new Error("Tifo: /sdk has no runtime for animations");
  loaded.useWasm(`${base}/rive.wasm`);
  return loaded;
}

function isRuntime(module: unknown): module is Runtime {
  return typeof module === "object" && module !== null && "play" in module && "useWasm" in module;
}
