/** One line of what went wrong where there is nobody to tell; `about` names the things concerned by their ids, never by what they hold. */
export function logError(event: string, error: unknown, about: Record<string, string | number | null | undefined>): void {
  console.error(JSON.stringify({ level: "error", event, ...about, message: describeError(error) }));
}

/** What an error says, without values: drizzle's own text holds the statement's, so of such an error only the cause counts. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error) || !error.message.startsWith("Failed query:")) return String(error);
  return error.cause instanceof Error ? String(error.cause) : "A query failed";
}
