import { exportSite } from "./commands/export.ts";
import { init } from "./commands/init.ts";
import { login } from "./commands/login.ts";
import { logout } from "./commands/logout.ts";
import { record } from "./commands/record.ts";
import { replay } from "./commands/replay.ts";
import { tail } from "./commands/tail.ts";
import { triggerBroadcast, triggerEvent, triggerWebhook } from "./commands/trigger.ts";
import { whoami } from "./commands/whoami.ts";
import { columns, type Command, helpOf, parse } from "./lib/command.ts";
import { EXIT, type ExitCode } from "./lib/failure.ts";
import { type Io, jsonLine, plain } from "./lib/io.ts";
import { describeProblem, exitCodeOf } from "./lib/report.ts";
import { TifoProblem } from "../sdk/client/index.ts";

declare const TIFO_CLI_VERSION: string;

export const COMMANDS: readonly Command[] = [
  init,
  login,
  logout,
  whoami,
  tail,
  triggerBroadcast,
  triggerEvent,
  triggerWebhook,
  record,
  replay,
  exportSite,
];

/** Runs one command line, and resolves to the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const [word] = argv;
  if (word === "--version" || word === "-v") return print(io, TIFO_CLI_VERSION);
  const command = COMMANDS.find(({ name }) => name.split(" ").every((part, index) => argv[index] === part));
  if (!command) return withoutCommand(argv, io);
  const rest = argv.slice(command.name.split(" ").length);
  try {
    const values = parse(command, rest);
    if (!values) return print(io, helpOf(command));
    await command.run(values, io);
    return io.signal.aborted ? EXIT.interrupted : EXIT.ok;
  } catch (error) {
    if (io.signal.aborted) return EXIT.interrupted;
    const exitCode = exitCodeOf(error);
    if (rest.includes("--json")) io.note(jsonLine({ error: jsonOf(error) }));
    else io.note(messageOf(error));
    if (exitCode === EXIT.usage) io.note(`See: tifo ${command.name} --help`);
    return exitCode;
  }
}

function print(io: Io, text: string): ExitCode {
  io.out(text);
  return EXIT.ok;
}

/** The overview; with the words of no command, an error. */
function withoutCommand(argv: readonly string[], io: Io): ExitCode {
  const words = argv.filter((word) => !word.startsWith("-"));
  const group = COMMANDS.filter(({ name }) => words[0] !== undefined && name.startsWith(`${words[0]} `));
  const isQuestion = words.length === 0 || words[0] === "help" || (group.length > 0 && words.length === 1);
  const listed = group.length > 0 ? group : COMMANDS;
  const overview = [
    "The command line of Tifo, the audience-engagement platform for live video.",
    "",
    "Usage: tifo <command> [options]",
    "",
    "Commands:",
    ...columns(listed.map(({ name, summary }) => [name, summary])),
    "",
    "Run tifo <command> --help for the options of a command.",
    `Exit codes: 0 done, ${EXIT.failed} failed, ${EXIT.usage} wrong usage, ${EXIT.unauthorized} not signed in or not allowed, ${EXIT.unreachable} server unreachable.`,
  ].join("\n");
  if (isQuestion) return print(io, overview);
  io.note(`There is no command "${plain(words.join(" "))}". See: tifo --help`);
  return EXIT.usage;
}

/** Each line of a message, as it may quote the server. */
function messageOf(error: unknown): string {
  return `Error: ${describeProblem(error).split("\n").map(plain).join("\n")}`;
}

function jsonOf(error: unknown): Record<string, unknown> {
  const message = describeProblem(error);
  if (!(error instanceof TifoProblem)) return { message };
  const { status, code, requestId, issues } = error;
  return { message, status, code, requestId, issues };
}
