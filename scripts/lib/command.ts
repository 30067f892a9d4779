import { spawn } from "node:child_process";
import { Problem } from "./report.mjs";
import { ROOT } from "./root.mjs";

export interface CommandOptions {
  env?: Record<string, string>;
  /** Text for the command's standard input. */
  input?: string;
}

export interface CommandResult {
  code: number;
  /** The command's standard output and standard error, in order. */
  output: string;
  /** Its standard output only. */
  stdout: string;
}

/** Runs a command of node_modules/.bin to its end, without printing its output. */
export async function run(command: string, args: string[], { env = {}, input = "" }: CommandOptions = {}): Promise<CommandResult> {
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...TOOL_ENV, ...env }, stdio: "pipe" });
  let output = "";
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  // A command that exits without reading closes the pipe; its exit code is enough.
  child.stdin.on("error", () => undefined).end(input);
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output, stdout }));
  });
}

/** Runs a command like `run`, and throws a problem with its output if it fails. */
export async function runOrFail(command: string, args: string[], options?: CommandOptions): Promise<string> {
  const { code, output, stdout } = await run(command, args, options);
  if (code !== 0) throw new Problem(`\`${command} ${args.join(" ")}\` failed:\n${output.trim()}`);
  return stdout;
}

/**
 * Keeps the tools offline: no telemetry, no update check, no request for a sample of `request.cf`. Traces of requests, which the local
 * runtime would write to disk without a limit, are kept only if asked for with `X_LOCAL_OBSERVABILITY=true`.
 */
export const TOOL_ENV = {
  ASTRO_TELEMETRY_DISABLED: "1",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  X_LOCAL_OBSERVABILITY: process.env["X_LOCAL_OBSERVABILITY"] ?? "false",
};
