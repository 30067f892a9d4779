import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#scripts/lib/root.mjs";

/** The outcome of a sample program. */
export interface Run {
  code: number;
  /** The end of its output. */
  output: string;
}

export interface SampleFolder {
  folder: string;
  /** Writes a file and returns its path. */
  write(name: string, text: string): string;
  /** Runs a program in the folder; kills it after a timeout. */
  run(command: string, args: string[], env?: Record<string, string>): Promise<Run>;
  clear(): void;
}

const TIMEOUT_MS = 540_000;
const OUTPUT_CHARS = 4_000;

/** Creates a folder for samples in which `@tifo/web` and the command line are installed. */
export function createSampleFolder(): SampleFolder {
  mkdirSync(join(ROOT, ".wrangler"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".wrangler/samples-"));
  mkdirSync(join(folder, "node_modules/@tifo"), { recursive: true });
  symlinkSync(join(ROOT, "sdk/dist"), join(folder, "node_modules/@tifo/web"));
  mkdirSync(join(folder, "node_modules/.bin"));
  symlinkSync(join(ROOT, "cli/dist/tifo.js"), join(folder, "node_modules/.bin/tifo"));
  return {
    folder,
    write(name, text) {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    },
    run: (command, args, env = {}) => run(folder, command, args, env),
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function run(cwd: string, command: string, args: string[], env: Record<string, string>): Promise<Run> {
  const path = `${join(cwd, "node_modules/.bin")}:${process.env.PATH ?? ""}`;
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH: path, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const end = setTimeout(() => endGroup(child.pid), TIMEOUT_MS);
  const code = await new Promise<number>((settle, fail) => {
    child.on("error", fail);
    child.on("close", (status) => settle(status ?? 1));
  });
  clearTimeout(end);
  return { code, output: output.slice(-OUTPUT_CHARS) };
}

/** Kills a process with its children. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}
