import type { Environment, ServerFrameOf, ViewerFrame } from "../channel/index.ts";
import { TifoProblem } from "../client/index.ts";

const PATIENCE_MS = 10_000;

/** Votes over the open socket. */
export interface Votes {
  /** Null: the socket doesn't take it now; send it another way. Rejects with a {@link TifoProblem}. */
  cast(pollId: string, answerId: string): Promise<void> | null;
  /** The server's answer to one. */
  settle(frame: ServerFrameOf<"vote.result">): void;
  /** A new connection: what had no answer is sent again under its own name, and counts once. */
  resend(): void;
  /** Another viewer is there: what had no answer is not theirs, and rejects. */
  drop(): void;
}

export function createVotes(environment: Environment, send: (frame: ViewerFrame) => boolean): Votes {
  const waiting = new Map<string, { frame: ViewerFrame; end: (problem?: TifoProblem) => void }>();

  return {
    cast(pollId, answerId) {
      const id = crypto.randomUUID();
      const frame: ViewerFrame = { type: "vote", pollId, answerId, id };
      if (!send(frame)) return null;
      return new Promise((resolve, reject) => {
        const timer = environment.setTimer(() => end(unanswered()), PATIENCE_MS);
        function end(problem?: TifoProblem): void {
          waiting.delete(id);
          environment.clearTimer(timer);
          if (problem) reject(problem);
          else resolve();
        }
        waiting.set(id, { frame, end });
      });
    },
    settle({ id, ok, code = "invalid_request", message = "The vote does not count" }) {
      waiting.get(id)?.end(ok ? undefined : new TifoProblem({ status: 0, code, message }));
    },
    resend() {
      for (const { frame } of waiting.values()) send(frame);
    },
    drop() {
      for (const { end } of [...waiting.values()]) end(unanswered());
    },
  };
}

function unanswered(): TifoProblem {
  return new TifoProblem({ status: 0, code: "network", message: "No answer came to the vote" });
}
