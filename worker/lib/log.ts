import { LogSampler } from "./log-sampler.ts";

/** Of each event of a site. What fails for one viewer often fails for all, and a lasting fault must not cost more than what it breaks. */
const LINES_PER_SECOND = 20;
/** How many an isolate remembers. */
const MAX_SAMPLERS = 1_000;

const samplers = new Map<string, LogSampler>();

/**
 * Logs an error that no caller receives; `about` has the ids of the affected resources, never their data. Of an event that an isolate logs
 * too often for a site, one line in a hundred is written, with `sampled: 100`.
 */
export function logError(event: string, error: unknown, about: Record<string, string | number | null | undefined>): void {
  const weight = samplerOf(`${event} ${about.siteId ?? ""}`).weigh(LINES_PER_SECOND, Date.now());
  if (weight === 0) return;
  const sampled = weight > 1 ? weight : undefined;
  console.error(JSON.stringify({ level: "error", event, ...about, message: describeError(error), sampled }));
}

function samplerOf(key: string): LogSampler {
  const known = samplers.get(key);
  if (known) return known;
  if (samplers.size >= MAX_SAMPLERS) samplers.clear();
  const sampler = new LogSampler();
  samplers.set(key, sampler);
  return sampler;
}

/** An error's message without data: drizzle's message includes the statement's values, so only its cause is used. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error) || !error.message.startsWith("Failed query:")) return String(error);
  return error.cause instanceof Error ? String(error.cause) : "A query failed";
}
