/** The messages of an error and of its causes, outermost first. */
export function causesOf(error: unknown): string[] {
  const messages: string[] = [];
  const seen = new Set<unknown>();
  for (let at = error; at !== undefined && at !== null && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at);
    messages.push(messageOf(at));
  }
  return messages;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
}

/** The same as text, with one cause per paragraph. */
export function chainOf(error: unknown): string {
  return causesOf(error).join("\n\nCause:\n");
}
