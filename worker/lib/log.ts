/** Logs an error that no caller receives; `about` has the ids of the affected resources, never their data. */
export function logError(event: string, error: unknown, about: Record<string, string | number | null | undefined>): void {
  console.error(JSON.stringify({ level: "error", event, ...about, message: describeError(error) }));
}

/** An error's message without data: drizzle's message includes the statement's values, so only its cause is used. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error) || !error.message.startsWith("Failed query:")) return String(error);
  return error.cause instanceof Error ? String(error.cause) : "A query failed";
}
