import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { Io } from "./io.ts";

const CLEAR_LINE = "\r\u001b[K";

/** The process's own terminal. */
export function terminal(): Io & { flushed(): Promise<void> } {
  const { stdin, stdout, stderr } = process;
  const controller = new AbortController();
  const { signal } = controller;
  // A second Ctrl+C ends the process at once.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  // The reader has seen enough, such as `| head`.
  stdout.on("error", () => process.exit(0));
  let hasProgress = false;

  function endProgress(): void {
    if (hasProgress) stderr.write(CLEAR_LINE);
    hasProgress = false;
  }

  async function question(query: string, output: NodeJS.WritableStream): Promise<string> {
    endProgress();
    const reader = createInterface({ input: stdin, output, terminal: true });
    reader.once("SIGINT", () => controller.abort());
    try {
      return (await reader.question(query, { signal })).trim();
    } finally {
      reader.close();
    }
  }

  return {
    env: process.env,
    out(line) {
      endProgress();
      stdout.write(`${line}\n`);
    },
    note(line) {
      endProgress();
      stderr.write(`${line}\n`);
    },
    progress(line) {
      if (!stderr.isTTY) return;
      hasProgress = true;
      stderr.write(`${CLEAR_LINE}${line}`);
    },
    interactive: stdin.isTTY && stderr.isTTY,
    ask: (query) => question(query, stderr),
    async askSecret(query) {
      stderr.write(query);
      const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
      const answer = await question("", hidden);
      stderr.write("\n");
      return answer;
    },
    readStdin: () => text(stdin),
    fetch: (request) => fetch(request),
    sleep: (milliseconds) => wait(milliseconds, undefined, { signal }).catch(() => undefined),
    now: () => Date.now(),
    signal,
    async flushed() {
      endProgress();
      if (stdout.writableNeedDrain) await once(stdout, "drain");
    },
  };
}
