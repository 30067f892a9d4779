import { DurableObject } from "cloudflare:workers";
import { logError } from "#worker/lib/log.ts";
import { type Audience, findAudience, notifyViewers } from "#worker/services/polls/audience.ts";
import { pollDefinition, writeVotes } from "#worker/services/polls/counting.ts";
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
import { VoteStore } from "./vote-store.ts";

/** Time between two writes of votes to the database. */
const WRITE_MS = 2_000;
/** Least time between two looks at the tally: viewers are told at most twice a second. */
const TELL_MS = 500;
/** Longest time between two tries to tell. */
const TELL_RETRY_MS = 32_000;
/** Votes that one statement takes to the database. */
const PORTION = 1_000;

/**
 * One of the counters that share a poll's votes by account, named `<siteId>:<pollId>:<counter>`. Each vote is in its own storage before it
 * is answered; the alarm takes votes to the database in groups. Counter 0 adds all of them up and tells the viewers.
 */
export class PollCounter extends DurableObject<Env> {
  readonly #siteId: string;
  readonly #pollId: string;
  readonly #counter: number;
  readonly #votes: VoteStore;
  /** When votes are to be written and told; null: there is nothing new. After a restart both are due with the next alarm. */
  #writeAt: number | null = 0;
  #tellAt: number | null = 0;
  #toldAt = 0;
  /** Tries to tell in a row that failed. */
  #untold = 0;
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
  }

  /** Counts a vote once by its account and `requestId`, or says why not. */
  async vote(vote: Vote): Promise<VoteOutcome> {
    if (!this.#votes.poll) await this.#load();
    const now = Date.now();
    const outcome = this.#votes.count(vote, now);
    if (outcome.ok) {
      this.#writeAt ??= now + WRITE_MS;
      this.#tellSoon(now);
    }
    return outcome;
  }

  /** Takes a change of the poll: from here on votes are counted by it. Of a closed poll the database has every vote once this answers. */
  async define(poll: PollDefinition): Promise<void> {
    const isNew = this.#votes.define(poll);
    this.#sum = undefined;
    if (this.#counter === 0 && isNew) this.#tellSoon(Date.now());
    if (!poll.open) await this.#write();
  }

  /** Keeps votes for these answers away for the moment, and says how many they have: before answers are taken away. */
  hold(hold: Hold): number {
    return this.#votes.hold(hold, Date.now());
  }

  /** The answers that were held by this request stay. */
  release(by: string): void {
    this.#votes.release(by);
  }

  /** This counter's own votes. */
  tally(): Tally {
    return this.#votes.tally();
  }

  /** All votes of the poll, at most half a second old; of counter 0. */
  async sum(): Promise<Tally> {
    const now = Date.now();
    if (!this.#sum || this.#sum.at <= now - TELL_MS) {
      const sum = { at: now, tally: this.#askAll() };
      this.#sum = sum;
      sum.tally.catch(() => {
        if (this.#sum === sum) this.#sum = undefined;
      });
    }
    return this.#sum.tally;
  }

  /** What an account has answered, whether the database knows it yet or not. */
  votesOf(accountId: string): CountedVote[] {
    return this.#votes.of(accountId);
  }

  /** Some counter has new votes; to counter 0. */
  async changed(): Promise<void> {
    this.#tellSoon(Date.now());
  }

  /** Forgets whose an account's votes were; they stay in the tally. */
  forget(accountId: string): void {
    this.#votes.forget(accountId);
  }

  /** The poll is no more. */
  async clear(): Promise<void> {
    this.#votes.clear();
    this.ctx.storage.kv.delete("told");
    this.#writeAt = this.#tellAt = this.#alarmAt = null;
    this.#sum = undefined;
    await this.ctx.storage.deleteAlarm();
  }

  /** Writes and tells what is due. Safe to run at any time; what fails is tried again. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const now = Date.now();
    if (this.#writeAt !== null && this.#writeAt <= now) await this.#attempt("write", () => this.#write());
    if (this.#tellAt !== null && this.#tellAt <= now) await this.#attempt("tell", () => this.#tell(now));
    this.#schedule();
  }

  async #attempt(what: "write" | "tell", work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (what === "tell") this.#untold = 0;
    } catch (error) {
      logError(`poll_${what}_failed`, error, { poll: this.#pollId });
      if (what === "write") this.#writeAt = Date.now() + WRITE_MS;
      else this.#tellAt = Date.now() + Math.min(TELL_RETRY_MS, TELL_MS * 2 ** this.#untold++);
    }
  }

  /** Takes to the database what it doesn't have. A portion that is written twice counts once. */
  async #write(): Promise<void> {
    this.#writeAt = null;
    for (;;) {
      const votes = this.#votes.unwritten(PORTION);
      const last = votes.at(-1);
      if (!last) return;
      const deleted = await writeVotes(this.env, { siteId: this.#siteId, pollId: this.#pollId }, votes);
      for (const accountId of deleted) this.#votes.forget(accountId);
      this.#votes.wrote(last.seq);
    }
  }

  async #tell(now: number): Promise<void> {
    this.#tellAt = null;
    this.#toldAt = now;
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

  /** Asks the database for the poll, while every other call waits: none can change or end it meanwhile. */
  async #load(): Promise<void> {
    const failure = await this.ctx.blockConcurrencyWhile(async () => {
      if (this.#votes.poll) return;
      try {
        const poll = await pollDefinition(this.env, this.#siteId, this.#pollId);
        if (poll) this.#votes.define(poll);
        return;
      } catch (cause) {
        // Thrown in here, it would end the object.
        return new Error("The poll can't be read", { cause });
      }
    });
    if (failure) throw failure;
  }

  #tellSoon(now: number): void {
    // What is new waits for no repeat of what a relay has not taken.
    this.#tellAt = Math.min(this.#tellAt ?? Infinity, Math.max(now, this.#toldAt + TELL_MS));
    this.#schedule();
  }

  /** Sets the alarm for what is due next. Never moves it later. */
  #schedule(): void {
    const due = Math.min(this.#writeAt ?? Infinity, this.#tellAt ?? Infinity);
    if (due === Infinity || (this.#alarmAt !== null && this.#alarmAt <= due)) return;
    this.#alarmAt = due;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(Math.max(due, Date.now())));
  }
}
