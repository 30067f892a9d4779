import { type NewAward, REASONS, type Responder, type Settlement } from "./leaderboard.protocol.ts";
import type { Ledger } from "./ledger.ts";

const KEY = "settlement:";

/** A settlement, and the last account that it has reached; null once it has reached all. */
interface Progress {
  settlement: Settlement;
  reached: string | null;
}

/** The polls whose outcome this board pays for. A correction of an outcome takes back the points of the earlier one. */
export class Settlements {
  readonly #storage: DurableObjectStorage;
  readonly #ledger: Ledger;

  constructor(storage: DurableObjectStorage, ledger: Ledger) {
    this.#storage = storage;
    this.#ledger = ledger;
  }

  /** Starts paying for an outcome, unless it or a later one is known; returns whether it is new. */
  add(settlement: Settlement): boolean {
    const known = this.#storage.kv.get<Progress>(KEY + settlement.pollId);
    if (known && known.settlement.version >= settlement.version) return false;
    this.#storage.kv.put<Progress>(KEY + settlement.pollId, { settlement, reached: "" });
    return true;
  }

  /** One that hasn't reached all accounts yet. */
  next(): { settlement: Settlement; reached: string } | undefined {
    for (const [, { settlement, reached }] of this.#storage.kv.list<Progress>({ prefix: KEY }))
      if (reached !== null) return { settlement, reached };
    return undefined;
  }

  /** Pays or takes back the points of accounts that responded; without any, the settlement is complete. Ignored if a later one has begun. */
  pay(settlement: Settlement, responders: Responder[]): void {
    const known = this.#storage.kv.get<Progress>(KEY + settlement.pollId);
    if (known?.settlement.version !== settlement.version) return;
    this.#storage.transactionSync(() => {
      this.#ledger.award(responders.flatMap((responder) => this.#awardFor(settlement, responder)));
      this.#storage.kv.put<Progress>(KEY + settlement.pollId, { settlement, reached: responders.at(-1)?.accountId ?? null });
    });
  }

  #awardFor({ pollId, version, rule, at }: Settlement, { accountId, correct }: Responder): NewAward[] {
    const cause = `${rule.on}/${pollId}`;
    const paid = this.#ledger.sumOf(accountId, cause);
    const award = { accountId, cause: `${cause}@${version}`, at };
    if (correct && paid === 0) return [{ ...award, points: rule.points, reason: REASONS[rule.on], rule }];
    // Taking back isn't limited per day.
    return correct || paid === 0 ? [] : [{ ...award, points: -paid, reason: "Corrected outcome", rule: { on: rule.on } }];
  }
}
