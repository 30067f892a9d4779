import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { branchOf, type Outcome } from "./branch.protocol.ts";
import { valueOf } from "./outcome.ts";

/** How the relays are reached. */
export interface Routes<Message, Result> {
  direct(relay: number, message: Message): Promise<Result>;
  through(branch: number, relays: number[], message: Message): Promise<Outcome<Result>[]>;
}

interface Waiting<Result> {
  relay: number;
  resolve: (result: Result | PromiseLike<Result>) => void;
  reject: (error: unknown) => void;
}

/** Sends the same message to many relays: those of one branch that are sent it at the same time share a call to the branch. */
export class SharedDeliveries<Message extends object, Result> {
  readonly #routes: Routes<Message, Result>;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<number, Map<Message, Waiting<Result>[]>>();

  /** `timeoutMs`: a branch that hasn't responded by then has failed. */
  constructor(routes: Routes<Message, Result>, timeoutMs: number) {
    this.#routes = routes;
    this.#timeoutMs = timeoutMs;
  }

  /** Delivers to one relay. One that is sent `alone`, because it was slow before, delays no others. */
  deliver(relay: number, message: Message, alone: boolean): Promise<Result> {
    const branch = branchOf(relay);
    if (branch === null || alone) return this.#routes.direct(relay, message);
    return new Promise((resolve, reject) => this.#join(branch, message, { relay, resolve, reject }));
  }

  #join(branch: number, message: Message, waiting: Waiting<Result>): void {
    const messages = this.#waiting.get(branch);
    const group = messages?.get(message);
    if (group) group.push(waiting);
    else if (messages) messages.set(message, [waiting]);
    else {
      this.#waiting.set(branch, new Map([[message, [waiting]]]));
      setTimeout(() => this.#send(branch), 0);
    }
  }

  #send(branch: number): void {
    const messages = this.#waiting.get(branch) ?? new Map<Message, Waiting<Result>[]>();
    this.#waiting.delete(branch);
    for (const [message, group] of messages) void this.#sendTo(branch, message, group);
  }

  async #sendTo(branch: number, message: Message, group: Waiting<Result>[]): Promise<void> {
    try {
      const relays = group.map(({ relay }) => relay);
      const outcomes = await withTimeout(this.#routes.through(branch, relays, message), this.#timeoutMs);
      for (const [i, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[i];
        try {
          if (!outcome) throw new Error("The branch has no outcome for this relay");
          resolve(valueOf(outcome, this.#timeoutMs));
        } catch (error) {
          reject(error);
        }
      }
    } catch (error) {
      // Without it, at once: the relays skip what they already have.
      logError("branch_push_failed", error, { branch });
      for (const { relay, resolve } of group) resolve(this.#routes.direct(relay, message));
    }
  }
}
