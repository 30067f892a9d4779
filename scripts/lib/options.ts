import { parseArgs, type ParseArgsConfig } from "node:util";
import { Problem, say } from "./report.mjs";

/**
 * Reads the options of a script. Anything that it doesn't know is a problem, so that a mistyped option never does something else;
 * `--help` prints the usage and ends the process.
 */
export function readOptions<const Config extends ParseArgsConfig>(usage: string, config: Config): ReturnType<typeof parseArgs<Config>> {
  if ((config.args ?? process.argv.slice(2)).includes("--help")) {
    say(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    throw new Problem(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}
