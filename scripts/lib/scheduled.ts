/** Triggers the scheduled work of a local server. Resolves to the reason if it fails, otherwise to undefined. */
export async function scheduledFailure(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/cdn-cgi/local/scheduled`);
    if (response.ok) return undefined;
    // The runtime reports only that it threw; the Worker has logged each failed step.
    return `the server responded with ${response.status} ${await response.text()}; the scheduled_step_failed lines above name the steps and causes.`;
  } catch (error) {
    return `the server couldn't be reached: ${causesOf(error).join(": ")}.`;
  }
}

/** The messages of an error and of its causes, because fetch's own error says only that it failed. */
function causesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [
    error.message || ("code" in error ? String(error.code) : error.name),
    ...(error.cause === undefined ? [] : causesOf(error.cause)),
  ];
}
