/** Has a local server do its scheduled work; resolves with why it failed, or with nothing. */
export async function scheduledFailure(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/cdn-cgi/local/scheduled`);
    if (response.ok) return undefined;
    // The runtime passes on no more than that it threw; the Worker has logged each step that failed.
    return `the server responded with ${response.status} ${await response.text()}; the lines of scheduled_step_failed above name the steps and causes.`;
  } catch (error) {
    return `the server could not be reached: ${causesOf(error).join(": ")}.`;
  }
}

/** The messages of an error and of what caused it; fetch says no more than that it failed. */
function causesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [
    error.message || ("code" in error ? String(error.code) : error.name),
    ...(error.cause === undefined ? [] : causesOf(error.cause)),
  ];
}
