/**
 * The single table of error codes with their HTTP status and title; the docs add cause and fix.
 * Verbs throw a `Failure` with a code; only worker/http knows how to render it.
 */
export const ERRORS = {
  invalid_request: { status: 400, title: "Invalid request" },
  site_login_required: { status: 400, title: "Please use a site specific login to interact with restful services" },
  channel_admin_required: { status: 400, title: "User must be channel admin for this channel" },
  stream_provider_failed: { status: 400, title: "Call to the stream provider failed" },
  malformed_json: { status: 400, title: "Malformed JSON" },
  unauthenticated: { status: 401, title: "Not authenticated" },
  totp_required: { status: 401, title: "One-time code required" },
  no_account: { status: 401, title: "No account found" },
  forbidden: { status: 403, title: "Not allowed" },
  email_not_verified: { status: 403, title: "Email address not verified" },
  password_required: { status: 403, title: "Sign in to the account, or send its password or a new one" },
  password_too_short: { status: 403, title: "The password is too short for an account with roles; reset it" },
  chat_banned: { status: 403, title: "Banned from the chat" },
  chat_members_only: { status: 403, title: "Only members may send messages" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  conflict: { status: 409, title: "Conflict" },
  insufficient_balance: { status: 409, title: "Insufficient balance" },
  already_answered: { status: 409, title: "Already answered" },
  chat_paused: { status: 409, title: "Chat paused" },
  poll_closed: { status: 409, title: "Poll closed" },
  idempotency_mismatch: { status: 409, title: "Idempotency key used for another request" },
  idempotency_in_flight: { status: 409, title: "First request still running" },
  idempotency_unanswered: { status: 409, title: "First request took effect, but its response is lost" },
  precondition_failed: { status: 412, title: "Precondition failed" },
  payload_too_large: { status: 413, title: "Body too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  range_not_satisfiable: { status: 416, title: "Range not satisfiable" },
  upgrade_required: { status: 426, title: "WebSocket upgrade required" },
  rate_limited: { status: 429, title: "Too many requests" },
  chat_slow_mode: { status: 429, title: "Slow mode" },
  chat_busy: { status: 429, title: "Too many messages in the chat" },
  slow_down: { status: 429, title: "Polled too often" },
  internal: { status: 500, title: "Internal error" },
  format_not_supported: { status: 501, title: "Format not supported" },
  shop_failed: { status: 502, title: "The shop's response was invalid" },
  // Clients don't retry a 503 whose code ends like these: only the operator can change it.
  billing_not_configured: { status: 503, title: "Billing not configured" },
  games_not_configured: { status: 503, title: "Games search not configured" },
  youtube_not_configured: { status: 503, title: "YouTube not configured" },
  shop_not_configured: { status: 503, title: "Shop not configured" },
  unavailable: { status: 503, title: "Unavailable" },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** An invalid field: a dotted path in the body, or the name of a parameter. */
export interface Issue {
  path: string;
  message: string;
}

/** An error that the caller may see, thrown by verbs and by the HTTP layer; transport-free except for `headers`. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly issues: Issue[] | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ErrorCode, message?: string, details: { issues?: Issue[]; headers?: Record<string, string>; cause?: unknown } = {}) {
    super(message ?? ERRORS[code].title, { cause: details.cause });
    this.code = code;
    this.issues = details.issues;
    this.headers = details.headers;
  }
}

/** A host that a site chose failed: its shop, its player or its identity provider. Only the site can repair it. */
export class SiteHostFailure extends Failure {}

/**
 * Whether a response means that the deployment is broken. What a caller must not ask for, the operator hasn't configured, or a site's own
 * host causes isn't: strangers could raise alerts with it.
 */
export function isFault(status: number, code: ErrorCode | undefined, error: Error | undefined): boolean {
  if (status < 500 || error instanceof SiteHostFailure) return false;
  return code !== "format_not_supported" && code?.endsWith("_not_configured") !== true;
}

/** A write that was rolled back because another request changed the row since it was read. */
export class LostRace extends Failure {
  constructor() {
    super("conflict", "Changed by another request at the same time; read it again");
  }
}

export function notFound(message?: string): Failure {
  return new Failure("not_found", message);
}

/** A 400 for the given field. */
export function invalid(path: string, message: string): Failure {
  return new Failure("invalid_request", message, { issues: [{ path, message }] });
}

export function forbidden(message?: string): Failure {
  return new Failure("forbidden", message);
}

export function emailNotVerified(): Failure {
  return new Failure(
    "email_not_verified",
    "Verify the account's email address first; POST /account/v3/verify-email/request mails the link",
  );
}

export function unauthenticated(message?: string): Failure {
  return new Failure("unauthenticated", message);
}

export function conflict(message?: string): Failure {
  return new Failure("conflict", message);
}

/** Turns a unique-constraint error into a 409; `columns` as in SQLite's message: "table.column, table.column". */
export async function rejectDuplicate<T>(columns: string, message: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (hasMessage(error, `UNIQUE constraint failed: ${columns}`)) throw conflict(message);
    throw error;
  }
}

/** Turns a unique-constraint error into a lost race, so that the request reruns and updates the existing row. */
export async function rerunOnDuplicate<T>(columns: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (hasMessage(error, `UNIQUE constraint failed: ${columns}`)) throw new LostRace();
    throw error;
  }
}

/** Turns a foreign-key error into a 409. */
export async function rejectReferenced<T>(message: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (hasMessage(error, "FOREIGN KEY constraint failed")) throw conflict(message);
    throw error;
  }
}

/** Replaces a 409 with the given error, so that losing a race reads like being too late. */
export async function replaceConflict<T>(failure: Failure, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") throw failure;
    throw error;
  }
}

/** Whether this write won the race; false if it failed with a 409. */
export async function wonRace(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") return false;
    throw error;
  }
}

/** Whether the message of the error or one of its causes includes this text. */
export function hasMessage(error: unknown, message: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause.message.includes(message)) return true;
  return false;
}
