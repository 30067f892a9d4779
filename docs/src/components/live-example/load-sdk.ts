import type { TifoCore } from "#sdk/model/core.ts";

declare global {
  interface Window {
    Tifo?: TifoCore;
  }
}

let loading: Promise<TifoCore> | undefined;

/** Loads the SDK once, as plain pages do. A failure isn't cached, so the next press tries again. */
export function loadSdk(): Promise<TifoCore> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

function load(): Promise<TifoCore> {
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/sdk/tifo.css" });
  const script = Object.assign(document.createElement("script"), { src: "/sdk/tifo.js" });
  return new Promise((resolve, reject) => {
    script.addEventListener("load", () => (window.Tifo ? resolve(window.Tifo) : reject(new Error("The SDK did not start."))));
    script.addEventListener("error", () => reject(new Error("The SDK could not be loaded.")));
    document.head.append(style, script);
  });
}
