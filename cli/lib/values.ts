import { isRecord } from "./json.ts";
import { wrongUsage } from "./failure.ts";

const AGO = /^(\d+)(s|m|h|d)$/;
const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** A command's options and arguments. */
export class Values {
  readonly args: readonly string[];
  readonly #options: OptionValues;

  constructor(options: OptionValues, args: readonly string[]) {
    this.#options = options;
    this.args = args;
  }

  text(name: string): string | undefined {
    const value = this.#options[name];
    return typeof value === "string" ? value : undefined;
  }

  /** A required option, which the usage names. */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw wrongUsage(`--${name} is required.`);
    return value;
  }

  flag(name: string): boolean {
    return this.#options[name] === true;
  }

  list(name: string): string[] {
    const value = this.#options[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  /** A number of at least `least`. */
  number(name: string, least: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value) || value < least) {
      throw wrongUsage(`--${name} must be a number of at least ${least}, not "${text}".`);
    }
    return value;
  }

  integer(name: string, least: number): number | undefined {
    const value = this.number(name, least);
    if (value !== undefined && !Number.isSafeInteger(value)) throw wrongUsage(`--${name} must be a whole number, not ${value}.`);
    return value;
  }

  /** A time in milliseconds since 1970 UTC, written as such, as `90m` ago, or in ISO 8601. */
  time(name: string, now: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, amount, unit] = AGO.exec(text) ?? [];
    if (amount !== undefined) return now - Number(amount) * (UNITS[unit ?? ""] ?? 0);
    const time = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
    if (!Number.isSafeInteger(time)) throw wrongUsage(`--${name} must be a time such as 2026-11-23T18:00:00Z or 90m, not "${text}".`);
    return time;
  }
}

/** The pairs of `--var name=value`: numbers, true and false get their type, unless the value is in double quotes. */
export function variablesOf(pairs: readonly string[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw wrongUsage(`--var must be name=value, not "${pair}".`);
      return [name, typed(value)];
    }),
  );
}

function typed(value: string): string | number | boolean {
  if (value === "true" || value === "false") return value === "true";
  if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)) return Number(value);
  return /^"(.*)"$/s.exec(value)?.[1] ?? value;
}

/** An object in JSON from an option or a file. */
export function parseObject(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw wrongUsage(`${what} isn't JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (!isRecord(value)) throw wrongUsage(`${what} must be a JSON object.`);
  return value;
}
