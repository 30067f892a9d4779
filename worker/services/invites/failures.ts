import { Failure, LostRace, type ErrorCode } from "#worker/lib/errors.ts";

type InviteVerb = "Create" | "Update" | "Delete" | "Revoke" | "Consume" | "Accept";

// What the invite's own state or input forbids; who may call and what does not exist is told as everywhere.
const REPORTED = new Set<ErrorCode>(["invalid_request", "conflict"]);

/** The sentence that integrators know. */
export function inviteFailure(verb: InviteVerb, message = "The body is not valid"): string {
  return `${verb} Invite in Invite Service failed - ${message}`;
}

/** Tells a failure of the invite itself as a 400 in the words that integrators know. */
export async function inInviteService<T>(verb: InviteVerb, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A request that lost a race runs again.
    if (!(error instanceof Failure && REPORTED.has(error.code)) || error instanceof LostRace) throw error;
    throw new Failure("invalid_request", inviteFailure(verb, error.message), { issues: error.issues, cause: error });
  }
}
