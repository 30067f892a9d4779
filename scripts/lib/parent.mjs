import { readFileSync } from "node:fs";

const POLL_MS = 500;

/**
 * Calls back once the npm that runs this script has died without passing a signal on: npm hands a signal to its
 * shell only, and a shell that dies leaves us running. Of npm itself, one process up, only Linux lets us know.
 * @param {() => void} gone
 */
export function whenParentIsGone(gone) {
  const family = parents();
  const poll = setInterval(() => {
    if (parents() === family) return;
    clearInterval(poll);
    gone();
  }, POLL_MS);
  poll.unref();
}

function parents() {
  return `${process.ppid} ${parentOf(process.ppid)}`;
}

/**
 * @param {number} pid
 * @returns {string | undefined}
 */
function parentOf(pid) {
  try {
    return /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}
