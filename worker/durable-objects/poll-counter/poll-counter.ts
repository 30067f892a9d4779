import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { logError } from "#worker/lib/log.ts";
import { type Audience, findAudience, notifyViewers } from "#worker/services/polls/audience.ts";
import { pollDefinition, writeVotes } from "#worker/services/polls/counting.ts";
import { chargeForVote } from "#worker/services/polls/paid-responses.ts";
import { payForVotes } from "#worker/services/leaderboards/vote-awards.ts";
import { resultsOf } from "#worker/services/polls/results.ts";
import {
  type CountedVote,
  counterName,
  type Hold,
  parseCounterName,
  POLL_COUNTERS,
  type PollDefinition,
  type Tally,
  type Vote,
  type VoteOutcome,
} from "./poll-counter.protocol.ts";
import { PaidVotes } from "./paid-votes.ts";
import { VoteStore } from "./vote-store.ts";

/** Time between two writes of votes to the database. */
const WRITE_MS = 2_000;
/** Shortest time between two notifications: viewers are notified at most twice a second. */
const NOTIFY_MS = 500;
/** Longest time between two attempts to notify viewers. */
const NOTIFY_RETRY_MS = 32_000;
/** Time until a failed payment of votes is attempted again. */
const PAY_RETRY_MS = 5_000;
/** Votes that one statement writes. */
const BATCH_SIZE = 1_000;
/** Accounts that one call anonymizes. */
const ANONYMIZED_PER_CALL = 2_000;

/**
 * One of the counters that share a poll's votes by account, named `<siteId>:<pollId>:<counter>`. A vote is stored here before the response;
 * the alarm writes votes to the database in batches. Counter 0 sums up all counters and notifies the viewers.
 */
export class PollCounter extends SiteObject {
  readonly #siteId: string;
  readonly #pollId: string;
  readonly #counter: number;
  readonly #votes: VoteStore;
  readonly #paidVotes: PaidVotes;
  /** When to write votes, notify viewers and pay for votes; null if there is nothing new. After a restart both are due at the next alarm. */
  #writeAt: number | null = 0;
  #notifyAt: number | null = 0;
  #payAt: number | null = 0;
  #notifiedAt = 0;
  /** Consecutive failed attempts to notify. */
  #failedNotifications = 0;
  #alarmAt: number | null = null;
  #audience: Audience | undefined;
  #sum: { at: number; tally: Promise<Tally> } | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, pollId, counter } = parseCounterName(ctx.id.name);
    this.#siteId = siteId;
    this.#pollId = pollId;
    this.#counter = counter;
    this.#votes = new VoteStore(ctx.storage);
    this.#paidVotes = new PaidVotes(this.#votes, (vote) => chargeForVote(env, { siteId, pollId }, vote));
  }

  /** Counts a vote, idempotent by account and `requestId`, or returns why it doesn't count. */
  async vote(vote: Vote): Promise<VoteOutcome> {
    if (!this.#votes.poll) await this.#load();
    const now = Date.now();
    const isPaid = (vote.cost ?? 0) > 0 || this.#votes.hasPending;
    const outcome = isPaid ? await this.#castPaid(vote, now) : this.#votes.count(vote, now);
    if (outcome.ok) {
      this.#writeAt ??= now + WRITE_MS;
      this.#notifySoon(now);
    }
    return outcome;
  }

  /** If this object dies before the outcome is known, the alarm finds it out. */
  #castPaid(vote: Vote, now: number): Promise<VoteOutcome> {
    this.#writeAt ??= now + WRITE_MS;
    this.#schedule();
    return this.#paidVotes.cast(vote, now);
  }

  /** Applies a change of the poll. If the poll is closed, every vote is in the database once this resolves. */
  async define(poll: PollDefinition): Promise<void> {
    const isNew = this.#votes.define(poll);
    this.#sum = undefined;
    if (this.#counter === 0 && isNew) this.#notifySoon(Date.now());
    if (!poll.open) await this.#write();
    this.#schedule();
  }

  /** Rejects votes for these answers for now and returns how many they have; called before answers are removed. */
  hold(hold: Hold): number {
    return this.#votes.hold(hold, Date.now());
  }

  /** Releases the answers that this request held. */
  release(by: string): void {
    this.#votes.release(by);
  }

  /** This counter's own votes. */
  tally(): Tally {
    return this.#votes.tally();
  }

  /** All votes of the poll, at most half a second old. Only on counter 0. */
  async sum(): Promise<Tally> {
    const now = Date.now();
    if (!this.#sum || this.#sum.at <= now - NOTIFY_MS) {
      const sum = { at: now, tally: this.#askAll() };
      this.#sum = sum;
      sum.tally.catch(() => {
        if (this.#sum === sum) this.#sum = undefined;
      });
    }
    return this.#sum.tally;
  }

  /** An account's votes, including those not in the database yet. */
  votesOf(accountId: string): CountedVote[] {
    return this.#votes.of(accountId);
  }

  /** Tells counter 0 that another counter has new votes. */
  async changed(): Promise<void> {
    this.#notifySoon(Date.now());
  }

  /** Anonymizes an account's votes; they stay in the tally. */
  anonymize(accountId: string): void {
    this.#votes.anonymize(accountId);
  }

  /** Anonymizes votes of a closed poll; returns whether there may be more. */
  anonymizeMore(): boolean {
    return this.#votes.anonymizeMore(ANONYMIZED_PER_CALL);
  }

  /** Deletes everything after the poll is deleted. */
  async clear(): Promise<void> {
    this.#votes.clear();
    this.ctx.storage.kv.delete("told");
    this.#writeAt = this.#notifyAt = this.#payAt = this.#alarmAt = null;
    this.#sum = undefined;
    await this.ctx.storage.deleteAlarm();
  }

  /** Writes votes and notifies viewers if due. Safe to run at any time; failures are retried. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const now = Date.now();
    if (this.#writeAt !== null && this.#writeAt <= now) await this.#attempt("write", () => this.#write());
    if (this.#payAt !== null && this.#payAt <= Date.now()) await this.#attempt("pay", () => this.#pay());
    if (this.#notifyAt !== null && this.#notifyAt <= now) await this.#attempt("notify", () => this.#notify(now));
    this.#schedule();
  }

  async #attempt(what: "write" | "notify" | "pay", work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (what === "notify") this.#failedNotifications = 0;
    } catch (error) {
      logError(`poll_${what}_failed`, error, { poll: this.#pollId });
      if (what === "write") this.#writeAt = Date.now() + WRITE_MS;
      else if (what === "pay") this.#payAt = Date.now() + PAY_RETRY_MS;
      else this.#notifyAt = Date.now() + Math.min(NOTIFY_RETRY_MS, NOTIFY_MS * 2 ** this.#failedNotifications++);
    }
  }

  /** Writes the votes that aren't in the database yet. A batch that is written twice counts once. */
  async #write(): Promise<void> {
    this.#writeAt = null;
    await this.#paidVotes.settleAll();
    for (;;) {
      const votes = this.#votes.unwritten(BATCH_SIZE);
      const last = votes.at(-1);
      if (!last) return;
      const poll = { siteId: this.#siteId, pollId: this.#pollId, counter: this.#counter };
      const { deleted, isPaid } = await writeVotes(this.env, poll, votes);
      for (const accountId of deleted) this.#votes.anonymize(accountId);
      this.#votes.markWritten(last.seq, isPaid);
      if (isPaid) this.#payAt = Date.now();
    }
  }

  /** Has the leaderboards pay for votes that are in the database; a vote that is paid for twice counts once. */
  async #pay(): Promise<void> {
    this.#payAt = null;
    for (;;) {
      const votes = this.#votes.unpaid(BATCH_SIZE);
      const last = votes.at(-1);
      if (!last) return;
      await payForVotes(this.env, this.#siteId, this.#pollId, votes);
      this.#votes.markPaid(last.seq);
    }
  }

  async #notify(now: number): Promise<void> {
    this.#notifyAt = null;
    this.#notifiedAt = now;
    if (this.#counter !== 0) return this.#peer(0).changed();
    if (!this.#votes.poll) await this.#load();
    const tally = await this.#askAll();
    const { poll } = this.#votes;
    const results = poll && JSON.stringify(resultsOf({ ...poll, id: this.#pollId }, tally));
    if (results === undefined || results === this.ctx.storage.kv.get<string>("told")) return;
    this.#audience = await findAudience(this.env, this.#siteId, this.#pollId, this.#audience);
    await notifyViewers(this.env, this.#siteId, this.#audience, { key: this.#pollId, type: "poll.updated", at: now, data: results });
    if (this.#votes.poll) this.ctx.storage.kv.put("told", results);
  }

  async #askAll(): Promise<Tally> {
    const others = Array.from({ length: POLL_COUNTERS - 1 }, (_, index) => this.#peer(index + 1).tally());
    const sum: Tally = {};
    for (const tally of [...(await Promise.all(others)), this.#votes.tally()])
      for (const [answerId, votes] of Object.entries(tally)) sum[answerId] = (sum[answerId] ?? 0) + votes;
    return sum;
  }

  #peer(counter: number) {
    return this.env.POLL_COUNTER.getByName(counterName(this.#siteId, this.#pollId, counter));
  }

  /** Loads the poll from the database while all other calls wait, so that none can change or delete it meanwhile. */
  async #load(): Promise<void> {
    const failure = await this.ctx.blockConcurrencyWhile(async () => {
      if (this.#votes.poll) return;
      try {
        const poll = await pollDefinition(this.env, this.#siteId, this.#pollId);
        if (poll) this.#votes.define(poll);
        return;
      } catch (cause) {
        // Throwing in here would reset the object.
        return new Error("The poll can't be read", { cause });
      }
    });
    if (failure) throw failure;
  }

  #notifySoon(now: number): void {
    // A new result doesn't wait for the backoff of a failed notification.
    this.#notifyAt = Math.min(this.#notifyAt ?? Infinity, Math.max(now, this.#notifiedAt + NOTIFY_MS));
    this.#schedule();
  }

  /** Sets the alarm for what is due next. Never moves it later. */
  #schedule(): void {
    const due = Math.min(this.#writeAt ?? Infinity, this.#notifyAt ?? Infinity, this.#payAt ?? Infinity);
    if (due === Infinity || (this.#alarmAt !== null && this.#alarmAt <= due)) return;
    this.#alarmAt = due;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(Math.max(due, Date.now())));
  }
}
