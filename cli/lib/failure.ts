/** The exit codes, which are part of the interface. */
export const EXIT = {
  ok: 0,
  /** The server rejected a request, or something else failed. */
  failed: 1,
  /** Wrong options or arguments. */
  usage: 2,
  /** Not signed in, or the credentials were rejected or don't suffice. */
  unauthorized: 3,
  /** The server can't be reached. */
  unreachable: 4,
  /** Ctrl+C, as shells report it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface FailureOptions extends ErrorOptions {
  /** Why it failed, in a sentence. */
  reason?: string;
  /** What to do about it, in a sentence. */
  fix?: string;
}

/** An error whose message is meant for the person at the terminal. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: ExitCode;
  readonly reason: string | undefined;
  readonly fix: string | undefined;

  constructor(message: string, exitCode: ExitCode = EXIT.failed, { reason, fix, ...options }: FailureOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    this.reason = reason;
    this.fix = fix;
  }
}

export function wrongUsage(message: string, options?: FailureOptions): Failure {
  return new Failure(message, EXIT.usage, options);
}
