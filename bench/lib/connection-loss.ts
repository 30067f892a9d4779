import { Problem, say } from "#scripts/lib/report.mjs";

/** The runtime dropped a connection, which is unrelated to what is measured. */
export class ConnectionLost extends Error {}

/** How often work is repeated after lost connections before the benchmark fails. */
export const MAX_REPEATS = 3;

const LOSSES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Runs work, and repeats it from the beginning if it loses a connection. Any other error is thrown. */
export async function repeatIfLost<T>(what: string, work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      if (repeats === MAX_REPEATS)
        throw new Problem(`${what} lost a connection ${repeats + 1} times in a row, so the benchmark is aborted: ${reason}`);
      say(`    ${what} lost a connection and is repeated: ${reason}`);
    }
  }
}

/** Recognised by its class, or by the Node.js error code of the error or its cause. */
function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ConnectionLost) return true;
  return ("code" in error && LOSSES.has(String(error.code))) || isConnectionLoss(error.cause);
}
