import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import type { SenderFacts } from "./chat-room.protocol.ts";

/** How long what is known about an account is used without another look. Changes of its roles arrive earlier. */
const FRESH_MS = 30_000;
/** Somebody who isn't a member may just have become one. */
const MEMBERSHIP_MS = 2_000;
const MAX_CACHED = 10_000;

interface Known {
  facts: SenderFacts | null;
  at: number;
}

type Read = (accountIds: string[]) => Promise<Map<string, SenderFacts>>;

/** What the room knows about the accounts that send: read from the database for all that ask at the same time. */
export class Senders {
  readonly #read: Read;
  readonly #known = new Map<string, Known>();
  readonly #lookups = new CoalescedRunner(() => this.#lookUp());
  #wanted = new Set<string>();

  constructor(read: Read) {
    this.#read = read;
  }

  /** Null: the site has no such account. `needsMember`: a negative answer is only used for a moment. */
  async get(accountId: string, { fresh = false, needsMember = false } = {}): Promise<SenderFacts | null> {
    const known = this.#known.get(accountId);
    const limit = needsMember && known?.facts?.isMember === false ? MEMBERSHIP_MS : FRESH_MS;
    if (known && !fresh && Date.now() - known.at < limit) return known.facts;
    this.#wanted.add(accountId);
    await this.#lookups.run();
    return this.#known.get(accountId)?.facts ?? null;
  }

  /** Forgets everything, because what is read has changed. */
  clear(): void {
    this.#known.clear();
  }

  async #lookUp(): Promise<void> {
    const ids = [...this.#wanted];
    this.#wanted = new Set();
    const at = Date.now();
    const found = await this.#read(ids);
    if (this.#known.size > MAX_CACHED) this.#known.clear();
    for (const id of ids) this.#known.set(id, { facts: found.get(id) ?? null, at });
  }
}
