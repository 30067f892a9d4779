import { TifoProblem } from "../../sdk/client/index.ts";
import { EXIT, type ExitCode, Failure } from "./failure.ts";
import { isRecord } from "./json.ts";

/** An error in words, with the fields that the server names and the id of the request. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof TifoProblem)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return `The server can't be reached${causeOf(error)}.`;
  const issues = error.issues.map(({ path, message }) => `\n  ${path}: ${message}`).join("");
  const request = error.requestId === undefined ? "" : ` (request ${error.requestId})`;
  return `${error.message}${request}${issues}`;
}

/** The system's code, such as ECONNREFUSED: fetch wraps it several times. */
function causeOf(error: Error): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (isRecord(cause) && typeof cause.code === "string" && /^[A-Z_]+$/.test(cause.code)) return ` (${cause.code})`;
  }
  return "";
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Failure) return error.exitCode;
  if (!(error instanceof TifoProblem)) return EXIT.failed;
  if (error.status === 0) return EXIT.unreachable;
  return error.status === 401 || error.status === 403 ? EXIT.unauthorized : EXIT.failed;
}
