import { Failure, LostRace, type ErrorCode } from "#worker/lib/errors.ts";

type InviteVerb = "Create" | "Update" | "Delete" | "Revoke" | "Consume" | "Accept";

// Only errors of the invite's own state or input are rewritten; authorization and not-found errors stay as they are.
const REWRITTEN = new Set<ErrorCode>(["invalid_request", "conflict"]);

/** The message format that integrators rely on. */
export function inviteFailure(verb: InviteVerb, message = "The body is not valid"): string {
  return `${verb} Invite in Invite Service failed - ${message}`;
}

/** Reports an error of the invite itself as a 400, in the message format that integrators rely on. */
export async function inInviteService<T>(verb: InviteVerb, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A lost race is retried.
    if (!(error instanceof Failure && REWRITTEN.has(error.code)) || error instanceof LostRace) throw error;
    throw new Failure("invalid_request", inviteFailure(verb, error.message), { issues: error.issues, cause: error });
  }
}
