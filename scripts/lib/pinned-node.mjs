// Runs scripts with the Node.js version that package.json pins, whatever version the machine has.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { onParentExit } from "./parent.mjs";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";

const BIN = resolve(ROOT, "node_modules/.bin");

/**
 * Runs a script to its end and resolves to its exit code. Signals are forwarded; through the IPC channel, the script
 * notices if this process dies.
 * @param {string} script path relative to the project's folder
 * @param {string[]} args
 * @returns {Promise<number>}
 */
export function runWithPinnedNode(script, args) {
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ""}` };
  const child = spawn(pinnedNode(), [resolve(ROOT, script), ...args], { cwd: ROOT, env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  onParentExit(() => child.kill("SIGTERM"));
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => settle(code ?? 1));
  });
}

function pinnedNode() {
  const pinned = resolve(BIN, "node");
  if (existsSync(pinned)) return pinned;
  // With install scripts disabled, npm doesn't install the pinned version: use the current one if it runs TypeScript.
  if (process.features.typescript) return process.execPath;
  throw new Problem("The project's Node.js is missing: reinstall the packages with install scripts enabled, or use Node.js 24.");
}
