import { z } from "@hono/zod-openapi";
import { migrate } from "#worker/durable-objects/migrations.ts";
import { type NewAward, REASONS, type WatchedMinutes } from "./leaderboard.protocol.ts";
import type { Ledger } from "./ledger.ts";

const RULE = "minute.watched";
const MINUTE = 60_000;
/** Minutes per award, at most: one bit each. A day has a whole number of these blocks. */
const BLOCK = 30;
/** Awards per transaction. */
const CHUNK = 1_000;

/** How long minutes are collected until they are awarded together. */
const COLLECT_MS = 5 * MINUTE;
const DUE = "watchedDue";

const SCHEMA = ["CREATE TABLE watched (id INTEGER PRIMARY KEY, rule TEXT NOT NULL, minutes TEXT NOT NULL)"];

const Rule = z.object({ points: z.number(), perDay: z.number().optional() });
const Minutes = z.array(z.tuple([z.string(), z.number()]));

type Watched = { accountId: string; block: number; bits: number };

/**
 * Minutes that were watched and are yet to be awarded. They arrive for many accounts at once, and are stored as they come: a row per call.
 * A while later, an account gets one award for all of its minutes. Its cause says which they are, so that none is ever awarded twice.
 */
export class WatchedMinutesStore {
  readonly #storage: DurableObjectStorage;
  readonly #ledger: Ledger;

  constructor(storage: DurableObjectStorage, ledger: Ledger) {
    this.#storage = storage;
    this.#ledger = ledger;
    migrate(storage, "watched", SCHEMA);
  }

  /** When the oldest are due to be awarded, ms; Infinity if there are none. */
  get due(): number {
    return this.#storage.kv.get<number>(DUE) ?? Infinity;
  }

  add({ rule, minutes }: WatchedMinutes, now: number): void {
    if (this.due === Infinity) this.#storage.kv.put(DUE, now + COLLECT_MS);
    this.#storage.sql.exec("INSERT INTO watched (rule, minutes) VALUES (?, ?)", JSON.stringify(rule), JSON.stringify(minutes));
  }

  /** Awards everything that is stored, in transactions of limited size. A crash in between awards nothing twice. */
  award(): void {
    const select = "SELECT id, rule, minutes FROM watched ORDER BY id";
    const rows = this.#storage.sql.exec<{ id: number; rule: string; minutes: string }>(select).toArray();
    for (const [json, ofRule] of Map.groupBy(rows, ({ rule }) => rule)) {
      const rule = Rule.parse(JSON.parse(json));
      const watched = blocksOf(ofRule.flatMap(({ minutes }) => Minutes.parse(JSON.parse(minutes))));
      for (let from = 0; from < watched.length; from += CHUNK) {
        const chunk = watched.slice(from, from + CHUNK);
        this.#ledger.award(chunk.flatMap((one) => this.#awardFor(rule, one)));
      }
    }
    this.#storage.sql.exec("DELETE FROM watched WHERE id <= ?", rows.at(-1)?.id ?? 0);
    this.#storage.kv.delete(DUE);
  }

  #awardFor({ points, perDay }: z.output<typeof Rule>, { accountId, block, bits }: Watched): NewAward[] {
    const prefix = `${RULE}/${block}/`;
    const known = this.#ledger.causesOf(accountId, prefix).reduce((sum, cause) => sum | parseInt(cause.slice(prefix.length), 16), 0);
    const at = block * BLOCK * MINUTE;
    const room = perDay === undefined ? BLOCK : perDay - this.#ledger.timesOnDay(accountId, RULE, at);
    const fresh = firstBits(bits & ~known, room);
    const times = countBits(fresh);
    if (times === 0) return [];
    const last = at + (31 - Math.clz32(fresh)) * MINUTE;
    const rule = { on: RULE, ...(perDay === undefined ? {} : { perDay }) } as const;
    return [{ accountId, points: points * times, reason: REASONS[RULE], cause: `${prefix}${fresh.toString(16)}`, at: last, rule, times }];
  }
}

/** The minutes of each account and block as bits. */
function blocksOf(minutes: WatchedMinutes["minutes"]): Watched[] {
  const blocks = new Map<string, Watched>();
  for (const [accountId, minute] of minutes) {
    const block = Math.floor(minute / BLOCK);
    const key = `${accountId} ${block}`;
    const known = blocks.get(key) ?? { accountId, block, bits: 0 };
    known.bits |= 1 << (minute % BLOCK);
    blocks.set(key, known);
  }
  return [...blocks.values()];
}

/** The lowest bits that are set, at most this many. */
function firstBits(bits: number, most: number): number {
  let [rest, kept] = [bits, 0];
  for (let n = 0; n < most && rest !== 0; n++) {
    kept |= rest & -rest;
    rest &= rest - 1;
  }
  return kept;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
