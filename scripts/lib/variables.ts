import { z } from "@hono/zod-openapi";
import { NUMBERS, numberProblem, type NumberVariable } from "#worker/lib/variables.ts";

const NUMBER_NAMES = Object.keys(NUMBERS).filter((name): name is NumberVariable => name in NUMBERS);

const EMPTY = z.literal("");
const HTTPS = z.url({ protocol: /^https$/ });
const MODEL = z.literal("workers-ai");
const SWITCH = { valid: z.enum(["on", "off"]), expected: '"on" or "off"' };
const ADDRESS = { valid: HTTPS, expected: "an https URL" };
const ADDRESS_OR_EMPTY = { valid: HTTPS.or(EMPTY), expected: "an https URL or empty" };
const SERVICE = { valid: z.union([HTTPS, EMPTY, MODEL]), expected: 'an https URL, "workers-ai" or empty' };

/** The other variables of wrangler.toml. */
const TEXTS: Readonly<Record<string, { valid: z.ZodType; expected: string }>> = {
  // It lets the Worker call private addresses.
  TIFO_DEVELOPMENT: { valid: z.literal("false"), expected: '"false" in a deployment' },
  TIFO_REQUEST_LOG: SWITCH,
  TIFO_READ_REPLICAS: SWITCH,
  TIFO_SHARD_WEIGHTS: {
    valid: z.string().regex(/^(\d+(\.\d+)?( *, *\d+(\.\d+)?)*)?$/),
    expected: 'numbers separated by commas, such as "1,3", or empty',
  },
  TIFO_ALERT_URL: ADDRESS_OR_EMPTY,
  TIFO_ALERT_EMAIL: { valid: z.email().or(EMPTY), expected: "an email address or empty" },
  TIFO_MAIL_FROM: { valid: z.email(), expected: "an email address" },
  TIFO_DNS_URL: ADDRESS,
  TIFO_IGDB_URL: ADDRESS,
  TIFO_TWITCH_TOKEN_URL: ADDRESS,
  TIFO_CHAT_GUARD_URL: SERVICE,
  TIFO_TRANSLATE_URL: SERVICE,
  TIFO_STRIPE_URL: ADDRESS,
  TIFO_YOUTUBE_URL: ADDRESS,
  TIFO_OEMBED_URL: ADDRESS_OR_EMPTY,
};

/** What is wrong with the variables of a wrangler.toml, a sentence each. Only a number may be absent: it has a default. */
export function variableProblems(config: string): string[] {
  const numbers = NUMBER_NAMES.flatMap((name) => numberProblem(name, valueOf(config, name) ?? NUMBERS[name].fallback) ?? []);
  const texts = Object.entries(TEXTS).flatMap(([name, { valid, expected }]) => {
    const value = valueOf(config, name);
    if (value === undefined) return `${name} is missing: take its line from this release's wrangler.toml`;
    return valid.safeParse(value).success ? [] : `${name} must be ${expected}, not "${value}"`;
  });
  return [...numbers, ...texts];
}

/** A variable's value, quoted or not. */
function valueOf(config: string, name: string): string | undefined {
  const [, quoted, literal, bare] = new RegExp(`^${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^#\\n]*))`, "m").exec(config) ?? [];
  return quoted ?? literal ?? bare?.trim();
}
