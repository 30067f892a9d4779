import { SiteObject } from "./site-object.ts";
import { LIMITS, type LimitName, type LimitState, type Slot } from "#worker/lib/limits.ts";
import { migrate } from "./migrations.ts";

/** How long a taken slot may still be given back: longer than any sign-in takes to verify. */
const PENDING_MS = 3_000;
const REMEMBERED = 1_000;

const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS windows (name TEXT, key TEXT, ends INTEGER, used INTEGER, PRIMARY KEY (name, key)) WITHOUT ROWID",
];

/** Counts limits exactly, in fixed windows, one row per limit and key; `limiterName` decides which object counts what. */
export class Limiter extends SiteObject {
  readonly #sql: SqlStorage;
  /** When each key was last taken; losing it in an eviction makes a rejection final earlier. */
  readonly #lastTaken = new Map<string, number>();
  #isOpen = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#open();
  }

  /** Creates the table, which the alarm deletes once nothing is counted. */
  #open(): void {
    if (this.#isOpen) return;
    migrate(this.ctx.storage, "limiter", SCHEMA);
    this.#isOpen = true;
  }

  /** Takes one of each slot, or none if any is used up; that slot's state then shows when it resets. */
  takeAll(slots: Slot[]): LimitState[] {
    this.#open();
    const states = slots.map(({ name, key, quota }) => this.peek(name, key, quota));
    if (!states.every(({ allowed }) => allowed)) return states;
    for (const { name, key } of slots) this.#take(name, key);
    return states.map((state) => ({ ...state, remaining: state.remaining - 1 }));
  }

  #take(name: LimitName, key: string): void {
    const now = Date.now();
    const ends = now + LIMITS[name].window * 1000;
    this.#sql.exec(
      "INSERT INTO windows VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET used = CASE WHEN ends <= ? THEN 1 ELSE used + 1 END, ends = CASE WHEN ends <= ? THEN excluded.ends ELSE ends END",
      name,
      key,
      ends,
      now,
      now,
    );
    if (this.#lastTaken.size >= REMEMBERED) this.#lastTaken.clear();
    this.#lastTaken.set(`${name} ${key}`, now);
    this.#scheduleCleanUp(ends);
  }

  /** Gives back slots that turn out not to count, such as a successful sign-in. */
  giveBack(slots: Slot[]): void {
    this.#open();
    for (const { name, key } of slots) {
      this.#sql.exec("UPDATE windows SET used = max(0, used - 1) WHERE name = ? AND key = ?", name, key);
    }
  }

  /** What is left of a limit, without taking any. */
  peek(name: LimitName, key: string, quota: number = LIMITS[name].quota): LimitState {
    this.#open();
    const { window } = LIMITS[name];
    const now = Date.now();
    const row = this.#sql
      .exec<{ ends: number; used: number }>("SELECT ends, used FROM windows WHERE name = ? AND key = ? AND ends > ?", name, key, now)
      .toArray()[0];
    const remaining = Math.max(0, quota - (row?.used ?? 0));
    const final = now - (this.#lastTaken.get(`${name} ${key}`) ?? 0) > PENDING_MS;
    return { allowed: remaining > 0, quota, remaining, reset: row ? Math.ceil((row.ends - now) / 1000) : window, final };
  }

  override async alarm(): Promise<void> {
    this.#open();
    this.#sql.exec("DELETE FROM windows WHERE ends <= ?", Date.now());
    const { next } = this.#sql.exec<{ next: number | null }>("SELECT max(ends) AS next FROM windows").one();
    if (next !== null) return this.ctx.storage.setAlarm(next);
    this.#isOpen = false;
    await this.ctx.storage.deleteAll();
  }

  #scheduleCleanUp(at: number): void {
    this.ctx.waitUntil(this.ctx.storage.getAlarm().then((alarm) => (alarm === null ? this.ctx.storage.setAlarm(at) : undefined)));
  }
}
