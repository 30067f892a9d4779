/** A problem with one field of a request. */
export interface FieldIssue {
  /** For example `contents[0].html`. */
  path: string;
  message: string;
}

/** An error response of the API (RFC 9457, `application/problem+json`), or the network error that kept the request from reaching it. */
export class TifoProblem extends Error {
  override readonly name = "TifoProblem";
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Stable error code, such as `not_found`; see `/errors` in the docs. `network` if there was no response. */
  readonly code: string;
  readonly issues: readonly FieldIssue[];
  /** Identifies the request in the deployment's logs. */
  readonly requestId: string | undefined;
  /** Seconds after which the server allows another attempt. */
  readonly retryAfter: number | undefined;

  constructor({ status, code, message, issues = [], requestId, retryAfter }: ProblemInput, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.issues = issues;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

export interface ProblemInput {
  status: number;
  code: string;
  message: string;
  issues?: readonly FieldIssue[];
  requestId?: string | undefined;
  retryAfter?: number | undefined;
}

/** The problem that a response describes, even if a proxy wrote it. */
export async function problemOf(response: Response): Promise<TifoProblem> {
  const body: unknown = await response.json().catch(() => undefined);
  const fields = isRecord(body) ? body : {};
  return new TifoProblem({
    status: response.status,
    code: textOf(fields.code) ?? `http_${response.status}`,
    message: textOf(fields.detail) ?? textOf(fields.message) ?? textOf(fields.title) ?? `The server returned ${response.status}`,
    issues: Array.isArray(fields.issues) ? fields.issues.filter(isFieldIssue) : [],
    requestId: response.headers.get("tifo-request-id") ?? undefined,
    retryAfter: secondsOf(response.headers.get("retry-after")),
  });
}

/**
 * Whether an error is the server's answer. If not, nobody knows whether the request was done: no answer came, it failed on the way, or the
 * first attempt is still running. Sent again, it then needs the same Idempotency-Key; after an answer, a new one.
 */
export function isAnswer(error: unknown): boolean {
  return error instanceof TifoProblem && error.status >= 400 && error.status < 500 && error.code !== "idempotency_in_flight";
}

/** For reads of what may have been deleted: `read().catch(nullIfNotFound)`. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof TifoProblem && error.status === 404) return null;
  throw error;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isFieldIssue(value: unknown): value is FieldIssue {
  return isRecord(value) && typeof value.path === "string" && typeof value.message === "string";
}

function secondsOf(header: string | null): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
