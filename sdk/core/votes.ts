import type { Environment, ServerFrameOf, ViewerFrame } from "../channel/index.ts";
import { TifoProblem } from "../client/index.ts";

const TIMEOUT_MS = 10_000;

/** Votes over the open socket. */
export interface Votes {
  /** Null if there is no open socket; use REST then. Rejects with a {@link TifoProblem}. */
  cast(pollId: string, answerId: string, cost?: number): Promise<void> | null;
  /** Handles the server's response to a vote. */
  settle(frame: ServerFrameOf<"vote.result">): void;
  /** Sends pending votes again on a new connection, with the same ids, so that each counts once. */
  resend(): void;
  /** Rejects pending votes when the viewer changes. */
  drop(): void;
}

export function createVotes(environment: Environment, send: (frame: ViewerFrame) => boolean): Votes {
  const pending = new Map<string, { frame: ViewerFrame; end: (problem?: TifoProblem) => void }>();

  return {
    cast(pollId, answerId, cost) {
      const id = crypto.randomUUID();
      const frame: ViewerFrame = { type: "vote", pollId, answerId, id, ...(cost === undefined ? {} : { cost }) };
      if (!send(frame)) return null;
      return new Promise((resolve, reject) => {
        const timer = environment.setTimer(() => end(noResponse()), TIMEOUT_MS);
        function end(problem?: TifoProblem): void {
          pending.delete(id);
          environment.clearTimer(timer);
          if (problem) reject(problem);
          else resolve();
        }
        pending.set(id, { frame, end });
      });
    },
    settle({ id, ok, code = "invalid_request", message = "The vote was not counted" }) {
      pending.get(id)?.end(ok ? undefined : new TifoProblem({ status: 0, code, message }));
    },
    resend() {
      for (const { frame } of pending.values()) send(frame);
    },
    drop() {
      for (const { end } of [...pending.values()]) end(noResponse());
    },
  };
}

function noResponse(): TifoProblem {
  return new TifoProblem({ status: 0, code: "network", message: "The vote got no response" });
}
