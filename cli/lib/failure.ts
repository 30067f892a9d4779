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

/** An error whose message is meant for the person at the terminal. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export function wrongUsage(message: string): Failure {
  return new Failure(message, EXIT.usage);
}
