/** What is wrong with one field of a request. */
export interface FieldIssue {
  /** Such as `contents[0].html`. */
  path: string;
  message: string;
}

/** What the API answers when it can't do what was asked (RFC 9457, `application/problem+json`), or what kept the request from reaching it. */
export class TifoProblem extends Error {
  override readonly name = "TifoProblem";
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Stable name of what went wrong, such as `not_found`; see the docs' `/errors`. `network` when there was no answer. */
  readonly code: string;
  readonly issues: readonly FieldIssue[];
  /** Names the request in the deployment's logs. */
  readonly requestId: string | undefined;

  constructor({ status, code, message, issues = [], requestId }: ProblemInput, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.issues = issues;
    this.requestId = requestId;
  }
}

export interface ProblemInput {
  status: number;
  code: string;
  message: string;
  issues?: readonly FieldIssue[];
  requestId?: string | undefined;
}

/** The problem that an answer tells of, whoever wrote it. */
export async function problemOf(response: Response): Promise<TifoProblem> {
  const body: unknown = await response.json().catch(() => undefined);
  const told = isRecord(body) ? body : {};
  return new TifoProblem({
    status: response.status,
    code: textOf(told.code) ?? `http_${response.status}`,
    message: textOf(told.detail) ?? textOf(told.message) ?? textOf(told.title) ?? `The server answered ${response.status}`,
    issues: Array.isArray(told.issues) ? told.issues.filter(isFieldIssue) : [],
    requestId: response.headers.get("tifo-request-id") ?? undefined,
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isFieldIssue(value: unknown): value is FieldIssue {
  return isRecord(value) && typeof value.path === "string" && typeof value.message === "string";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
