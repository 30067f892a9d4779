// Installs the packages of package-lock.json if node_modules doesn't match it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Problem, step } from "./report.mjs";
import { ROOT } from "./root.mjs";

const LOCK = `${ROOT}package-lock.json`;
// npm writes this file last, so an interrupted install doesn't count.
const INSTALLED = `${ROOT}node_modules/.package-lock.json`;
const STAMP = `${ROOT}node_modules/.tifo-installed`;

const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED/;

/** Makes node_modules match package-lock.json. If it does already, nothing happens and no network is needed. */
export async function ensureInstalled() {
  const lock = createHash("sha256").update(readFileSync(LOCK)).digest("hex");
  if (!isInstalled(lock)) await step("Installing packages", install);
  writeFileSync(STAMP, lock);
}

/** @param {string} lock hash of package-lock.json */
function isInstalled(lock) {
  if (!existsSync(INSTALLED)) return false;
  if (existsSync(STAMP)) return readFileSync(STAMP, "utf8") === lock;
  return statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs;
}

async function install() {
  const { code, errors } = await npm("ci", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retry-mintimeout=2000");
  if (code === 0) return;
  if (UNREACHABLE.test(errors)) {
    throw new Problem("The package registry can't be reached. Connect to the network and run the command again.");
  }
  throw new Problem(`npm couldn't install the packages:\n${errors.trim()}`);
}

/**
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, errors: string }>}
 */
function npm(...args) {
  const cli = process.env.npm_execpath;
  const [command, before] = cli === undefined ? ["npm", []] : [process.execPath, [cli]];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...before, ...args], { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, errors }));
  });
}
