import * as React from "react";
import * as jsxRuntime from "react/jsx-runtime";
import * as ReactDOM from "react-dom";
import * as context from "./context.tsx";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs. */
declare const TIFO_SDK_VERSION: string;

/** Where the deployment serves this version's files. */
export function releaseUrl(origin: string): string {
  return `${origin}/sdk/releases/${TIFO_SDK_VERSION}`;
}

/** A file of the release. It shares React, and the context of the event, with the script that loads it. */
export async function loadReleaseFile<Module>(origin: string, name: string): Promise<Module> {
  const shared: Record<string, unknown> = {
    ...{ react: React, "react/jsx-runtime": jsxRuntime, "react-dom": ReactDOM },
    "tifo/context": context,
  };
  const address = `${releaseUrl(origin)}/${name}.js`;
  const file: unknown = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address);
  if (!isFile<Module>(file)) throw new Error(`Tifo: the deployment has no ${name}`);
  return file.default((wanted) => shared[wanted]);
}

function isFile<Module>(file: unknown): file is { default: (require: (name: string) => unknown) => Module } {
  return typeof file === "object" && file !== null && "default" in file && typeof file.default === "function";
}
