import { parseArgs } from "node:util";
import { wrongUsage } from "./failure.ts";
import type { Io } from "./io.ts";
import { Values } from "./values.ts";

export interface Option {
  type: "string" | "boolean";
  description: string;
  /** What stands for the value in the help: `<id>`. */
  value?: string;
  /** Whether it can be repeated. */
  multiple?: boolean;
}

export interface Command {
  /** The words that select it, such as `trigger broadcast`. */
  name: string;
  summary: string;
  /** What the help says below the summary. */
  details?: string;
  /** Its arguments in order, `<required>` or `[optional]`. */
  args?: readonly string[];
  options: Readonly<Record<string, Option>>;
  examples: readonly string[];
  run(values: Values, io: Io): Promise<void>;
}

/** Options that select the site; every command that calls the API has them. */
export const SITE_OPTIONS = {
  origin: { type: "string", value: "<url>", description: "Origin of the deployment; by default that of the last login" },
  site: { type: "string", value: "<id>", description: "The site's id; by default that of the last login" },
} satisfies Record<string, Option>;

export const JSON_OPTION = {
  json: { type: "boolean", description: "Print JSON, one value per line, for scripts" },
} satisfies Record<string, Option>;

const HELP: Readonly<Record<string, Option>> = { help: { type: "boolean", description: "Show this help" } };

/** The values of a command line; undefined if it asks for help. Unknown options are errors. */
export function parse(command: Command, argv: readonly string[]): Values | undefined {
  const options = Object.fromEntries(
    Object.entries<Option>({ ...command.options, ...HELP }).map(
      ([name, { type, multiple = false }]) => [name, { type, multiple }] as const,
    ),
  );
  if (argv.includes("-h")) return undefined;
  const { values, positionals } = parsed(argv, options);
  if (values.help === true) return undefined;
  const args = command.args ?? [];
  const required = args.filter((name) => name.startsWith("<"));
  const missing = required[positionals.length];
  if (missing !== undefined) throw wrongUsage(`${missing} is missing.`);
  const extra = positionals[args.length];
  if (extra !== undefined) throw wrongUsage(`"${extra}" isn't expected.`);
  return new Values(values, positionals);
}

function parsed(argv: readonly string[], options: Record<string, { type: "string" | "boolean"; multiple: boolean }>) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    // Its messages name the option; what follows the first sentence is about arguments that start with a hyphen.
    throw wrongUsage(error instanceof Error ? `${error.message.split(". ")[0] ?? ""}.` : String(error));
  }
}

export function helpOf({ name, summary, details, args = [], options, examples }: Command): string {
  const all = { ...options, ...HELP };
  const rows = Object.entries<Option>(all).map(([option, { value, description, multiple }]): [string, string] => [
    `--${option}${value === undefined ? "" : ` ${value}`}`,
    multiple ? `${description}; can be repeated` : description,
  ]);
  return [
    summary,
    "",
    `Usage: ${["tifo", name, ...args, "[options]"].join(" ")}`,
    ...(details === undefined ? [] : ["", details]),
    "",
    "Options:",
    ...columns(rows),
    ...(examples.length === 0 ? [] : ["", "Examples:", ...examples.map((example) => `  ${example}`)]),
  ].join("\n");
}

/** Two columns, the first as wide as its widest entry. */
export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`);
}
