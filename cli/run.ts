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
import { Credentials } from "./lib/credentials.ts";
import { nearestOf } from "./lib/nearest.ts";
import { describeProblem, exitCodeOf, reportOf } from "./lib/report.ts";
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
    return reportError(error, { command, rest }, io);
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
  const nearest = nearestOf(
    words.slice(0, 2).join(" "),
    COMMANDS.map(({ name }) => name),
  );
  io.note(`Error: There is no command "${plain(words.join(" "))}".`);
  io.note(nearest === undefined ? "Fix: tifo --help lists the commands." : `Fix: Did you mean: tifo ${nearest}`);
  return EXIT.usage;
}

/** Says what went wrong, why and what to do about it, and returns the exit code. */
function reportError(error: unknown, { command, rest }: { command: Command; rest: readonly string[] }, io: Io): ExitCode {
  const exitCode = exitCodeOf(error);
  const origin = originOf(rest, io);
  const {
    message,
    cause,
    fix = exitCode === EXIT.usage ? `tifo ${command.name} --help lists the options.` : undefined,
    see,
  } = reportOf(error, origin);
  if (rest.includes("--json")) {
    const { status, code, requestId, issues } = error instanceof TifoProblem ? error : {};
    io.note(jsonLine({ error: { message, cause, fix, exitCode, status, code, requestId, issues } }));
    return exitCode;
  }
  for (const [word, text] of Object.entries({ Error: describeProblem(error, origin), Cause: cause, Fix: fix, See: see })) {
    // Each line of a message, as it may quote the server.
    if (text !== undefined) io.note(`${word}: ${text.split("\n").map(plain).join("\n")}`);
  }
  return exitCode;
}

/** The deployment that a command line is about, as far as it is known. */
function originOf(rest: readonly string[], io: Io): string | undefined {
  const at = rest.indexOf("--origin");
  const named = (at < 0 ? undefined : rest[at + 1]) ?? io.env.TIFO_ORIGIN;
  if (named !== undefined && URL.canParse(named)) return new URL(named).origin;
  try {
    return new Credentials(io.env).list().at(-1)?.origin;
  } catch {
    return undefined;
  }
}
