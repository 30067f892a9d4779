import { TifoProblem } from "../../sdk/client/index.ts";
import { EXIT, type ExitCode, Failure } from "./failure.ts";
import { isRecord } from "./json.ts";

/** What went wrong, why, and what to do about it, each in a sentence or two. */
export interface Report {
  message: string;
  cause: string | undefined;
  fix: string | undefined;
  /** Where to read more. */
  see: string | undefined;
}

type Advice = Pick<Report, "cause" | "fix">;

/** By the server's code. */
const BY_CODE: Record<string, Advice> = {
  unauthenticated: {
    cause: "The key or the sign-in is wrong, has expired, or belongs to another site or deployment.",
    fix: "Sign in again with tifo login. In scripts, check TIFO_ORIGIN, TIFO_SITE_ID and TIFO_DEVELOPER_KEY.",
  },
  totp_required: {
    cause: "The account has an authenticator app, and its code is missing or wrong.",
    fix: "Pass the current code with --totp.",
  },
  forbidden: {
    cause: "The key or account doesn't have a role that this needs.",
    fix: "Create a key with this role in Studio under Developers, and sign in with it. tifo whoami shows what is used now.",
  },
  not_found: {
    cause: "The site has no such id, or it was deleted.",
    fix: "Check the id, and with tifo whoami that it is the right site.",
  },
  invalid_request: {
    cause: "The server doesn't accept a value.",
    fix: "Correct what the message names.",
  },
  redirected: {
    cause: "The origin isn't the deployment's own. Credentials aren't sent along a redirect.",
    fix: "Pass the origin that it redirects to with --origin.",
  },
};

/** By status, for all other codes. */
const BY_STATUS: Record<number, Advice> = {
  400: { cause: "The server doesn't accept the request.", fix: "Correct what the message names." },
  401: BY_CODE.unauthenticated ?? { cause: undefined, fix: undefined },
  403: BY_CODE.forbidden ?? { cause: undefined, fix: undefined },
  404: {
    cause: "There is nothing at this address of the server.",
    fix: "Check --origin: tifo and the deployment must have matching versions.",
  },
  409: {
    cause: "Something else has changed in the meantime, or exists already.",
    fix: "Look at the current state, then repeat the command.",
  },
  413: { cause: "What was sent is larger than the server accepts.", fix: "Send less at a time." },
  429: { cause: "A quota is used up, or the server is busy.", fix: "Wait, then repeat the command." },
  500: {
    cause: "An unexpected error occurred on the server.",
    fix: "Repeat the command. If it keeps failing, give the request's id to the operator.",
  },
  503: {
    cause: "The server is overloaded or restarting, or lacks the configuration that the message names.",
    fix: "Repeat the command in a minute. If it keeps failing, ask the operator.",
  },
};

const CERTIFICATE: Advice = {
  cause: "The server's certificate isn't trusted.",
  fix: "Check the address. For a certificate of your own authority, set NODE_EXTRA_CA_CERTS.",
};
const NETWORK: Record<string, Advice> = {
  ECONNREFUSED: {
    cause: "Nothing listens at this host and port.",
    fix: "Start the server, or check the address: --origin, TIFO_ORIGIN, or that of tifo whoami.",
  },
  ENOTFOUND: { cause: "The host doesn't exist, or DNS can't be reached.", fix: "Check the address and your network connection." },
  EAI_AGAIN: { cause: "DNS can't be reached.", fix: "Check your network connection." },
};
const OTHER_NETWORK: Advice = {
  cause: "The connection failed.",
  fix: "Check the address and your network connection, then repeat the command.",
};

/** A report on an error; `origin` is that of the deployment, if it is known. */
export function reportOf(error: unknown, origin?: string): Report {
  if (error instanceof Failure) return { message: error.message, cause: error.reason, fix: error.fix, see: undefined };
  if (!(error instanceof TifoProblem)) {
    return {
      message: error instanceof Error ? error.message : String(error),
      cause: "This is an error of tifo itself.",
      fix: "Report it with your command line and the output of tifo --version.",
      see: undefined,
    };
  }
  if (error.status === 0) {
    const code = networkCode(error);
    const advice = NETWORK[code] ?? (/CERT|SSL|TLS/.test(code) ? CERTIFICATE : OTHER_NETWORK);
    return { message: `${origin ?? "The server"} can't be reached${code === "" ? "" : ` (${code})`}.`, ...advice, see: undefined };
  }
  const { cause, fix } = BY_CODE[error.code] ?? BY_STATUS[error.status] ?? BY_STATUS[error.status >= 500 ? 500 : 400] ?? OTHER_NETWORK;
  const wait = error.retryAfter === undefined ? fix : `Wait ${error.retryAfter} s, then repeat the command.`;
  const isDocumented = origin !== undefined && /^[a-z]+(_[a-z]+)*$/.test(error.code) && error.code !== "redirected";
  return { message: error.message, cause, fix: wait, see: isDocumented ? `${origin}/errors#${error.code}` : undefined };
}

/** An error in words, with the fields that the server names and the id of the request. */
export function describeProblem(error: unknown, origin?: string): string {
  const { message } = reportOf(error, origin);
  if (!(error instanceof TifoProblem)) return message;
  const issues = error.issues.map(({ path, message: issue }) => `\n  ${path}: ${issue}`).join("");
  const request = error.requestId === undefined ? "" : ` (request ${error.requestId})`;
  return `${message}${request}${issues}`;
}

/** The system's code, such as ECONNREFUSED: fetch wraps it several times. */
function networkCode(error: Error): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (isRecord(cause) && typeof cause.code === "string" && /^[A-Z_]+$/.test(cause.code)) return cause.code;
  }
  return "";
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Failure) return error.exitCode;
  if (!(error instanceof TifoProblem)) return EXIT.failed;
  if (error.status === 0) return EXIT.unreachable;
  return error.status === 401 || error.status === 403 ? EXIT.unauthorized : EXIT.failed;
}
