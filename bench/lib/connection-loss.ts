import { Problem, say } from "#scripts/lib/report.mjs";

/** The runtime dropped a connection, which says nothing about what is measured. */
export class ConnectionLost extends Error {}

/** How often work is repeated because of lost connections, before the benchmark gives up. */
export const MOST_REPEATS = 3;

const LOSSES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** Runs work, and repeats it from the beginning where it loses a connection; any other error ends it. */
export async function repeatIfLost<T>(what: string, work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      if (repeats === MOST_REPEATS) throw new Problem(`${what} lost a connection ${repeats + 1} times in a row and is given up: ${reason}`);
      say(`    ${what} lost a connection and is repeated: ${reason}`);
    }
  }
}

/** By its type, or by the code that Node gives it or its cause. */
function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ConnectionLost) return true;
  return ("code" in error && LOSSES.has(String(error.code))) || isConnectionLoss(error.cause);
}
