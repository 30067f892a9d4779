import type { ChargeOutcome } from "#worker/services/polls/paid-responses.ts";
import type { PendingVote, Vote, VoteOutcome } from "./poll-counter.protocol.ts";
import type { VoteStore } from "./vote-store.ts";

type Charge = (vote: PendingVote) => Promise<ChargeOutcome>;

/**
 * Votes that cost something. Each is stored as pending before the wallet is debited and counted after, so that a crash in between neither
 * loses a vote that was paid for nor charges twice: the debit is repeated, which changes nothing if it had been made.
 */
export class PaidVotes {
  readonly #votes: VoteStore;
  readonly #charge: Charge;
  /** The last work of each account, which the next one waits for. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(votes: VoteStore, charge: Charge) {
    this.#votes = votes;
    this.#charge = charge;
  }

  /** Counts a vote once what it costs is paid, or returns why not. If it throws, the vote stays pending, and the same one may be sent again. */
  cast(vote: Vote, now: number): Promise<VoteOutcome> {
    return this.#inTurn(vote.accountId, async () => {
      const [earlier] = this.#votes.pending(vote.accountId);
      if (earlier) {
        const outcome = await this.#settle(earlier);
        if (earlier.requestId === vote.requestId && earlier.answerId === vote.answerId) return outcome;
      }
      if (!vote.cost) return this.#votes.count(vote, now);
      const reserved = this.#votes.reserve(vote, now);
      return "ok" in reserved ? reserved : this.#settle(reserved);
    });
  }

  /** Resolves once no vote is pending anymore. */
  async settleAll(): Promise<void> {
    const settled = this.#votes.pending().map(({ accountId }) =>
      this.#inTurn(accountId, async () => {
        const [pending] = this.#votes.pending(accountId);
        if (pending) await this.#settle(pending);
      }),
    );
    await Promise.all(settled);
  }

  async #settle(pending: PendingVote): Promise<VoteOutcome> {
    const outcome = await this.#charge(pending);
    if (outcome.ok) return this.#votes.countPaid(pending, outcome.payment);
    this.#votes.drop(pending);
    return outcome;
  }

  #inTurn<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(accountId) ?? Promise.resolve()).then(work, work);
    this.#turns.set(accountId, turn);
    const end = () => {
      if (this.#turns.get(accountId) === turn) this.#turns.delete(accountId);
    };
    turn.then(end, end);
    return turn;
  }
}
