// Responses to the request for a ticket that another attempt won't change.
const FINAL_STATUSES: readonly unknown[] = [400, 401, 403, 404];

/** Why the API rejects the viewer for good, such as a session that has ended; undefined where another attempt may succeed. */
export function rejectionOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("status" in error) || !FINAL_STATUSES.includes(error.status)) return undefined;
  return error.message;
}
