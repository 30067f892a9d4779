import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Io } from "#cli/lib/io.ts";

/** What a test's terminal has shown, and the requests that were sent. */
export interface FakeIo extends Io {
  env: Record<string, string | undefined>;
  shown: string[];
  notes: string[];
  requests: Request[];
  /** Milliseconds that commands have slept. */
  slept: number;
  abort(): void;
}

/** A folder for the current test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tifo-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Respond = (request: Request) => Response | Promise<Response>;

/** A terminal without a person, with a clock of its own and a stand-in for the server. */
export function fakeIo(respond: Respond, stdin = ""): FakeIo {
  const controller = new AbortController();
  const io: FakeIo = {
    env: { TIFO_CONFIG_DIR: temporaryFolder() },
    shown: [],
    notes: [],
    requests: [],
    slept: 0,
    out: (line) => void io.shown.push(line),
    note: (line) => void io.notes.push(line),
    progress: () => undefined,
    interactive: false,
    ask: () => Promise.reject(new Error("Nobody can be asked")),
    askSecret: () => Promise.reject(new Error("Nobody can be asked")),
    readStdin: async () => stdin,
    fetch: async (request) => {
      io.requests.push(request);
      return respond(request.clone());
    },
    sleep: async (milliseconds) => {
      io.slept += milliseconds;
    },
    now: () => 1_795_166_400_000 + io.slept,
    signal: controller.signal,
    abort: () => controller.abort(),
  };
  return io;
}
