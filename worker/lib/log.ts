import { LogSampler } from "./log-sampler.ts";

/** Of each event in an isolate. What fails for one viewer often fails for all, and a lasting fault must not cost more than what it breaks. */
const LINES_PER_SECOND = 20;

const samplers = new Map<string, LogSampler>();

/**
 * Logs an error that no caller receives; `event` is one of a few names, `about` has the ids of the affected resources, never their data. Of
 * an event that is logged too often, one line in a hundred is written, with `sampled: 100`.
 */
export function logError(event: string, error: unknown, about: Record<string, string | number | null | undefined>): void {
  const sampler = samplers.get(event) ?? new LogSampler();
  samplers.set(event, sampler);
  const weight = sampler.weigh(LINES_PER_SECOND, Date.now());
  if (weight === 0) return;
  const sampled = weight > 1 ? weight : undefined;
  console.error(JSON.stringify({ level: "error", event, ...about, message: describeError(error), sampled }));
}

/** An error's message without data: drizzle's message includes the statement's values, so only its cause is used. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error) || !error.message.startsWith("Failed query:")) return String(error);
  return error.cause instanceof Error ? String(error.cause) : "A query failed";
}
