// Continues in the Node.js that package.json pins, whatever version the machine has.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { whenParentIsGone } from "./parent.mjs";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";

const BIN = resolve(ROOT, "node_modules/.bin");

/**
 * Runs a script to its end and resolves to its exit code. Signals are passed on; the channel between the two
 * processes tells the script when this one dies without a word.
 * @param {string} script path from the project's folder
 * @param {string[]} args
 * @returns {Promise<number>}
 */
export function handOver(script, args) {
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ""}` };
  const child = spawn(pinnedNode(), [resolve(ROOT, script), ...args], { cwd: ROOT, env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  whenParentIsGone(() => child.kill("SIGTERM"));
  return new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => settle(code ?? 1));
  });
}

function pinnedNode() {
  const pinned = resolve(BIN, "node");
  if (existsSync(pinned)) return pinned;
  // npm was told to ignore install scripts, so the pinned one is missing: any that reads TypeScript will do.
  if (process.features.typescript) return process.execPath;
  throw new Problem("The project's Node.js is missing: install the packages with scripts allowed, or use Node.js 24.");
}
