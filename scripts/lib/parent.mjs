import { readFileSync } from "node:fs";

const POLL_MS = 500;

/**
 * Calls `onExit` once npm, which runs this script, has died without forwarding a signal: npm signals only its shell, and
 * this process outlives the shell. Only on Linux can npm itself, the shell's parent, be observed.
 * @param {() => void} onExit
 */
export function onParentExit(onExit) {
  const initial = parents();
  const poll = setInterval(() => {
    if (parents() === initial) return;
    clearInterval(poll);
    onExit();
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
