import { DurableObject } from "cloudflare:workers";
import { LIMITS, type LimitName, type LimitState } from "../lib/limits.ts";

/** Counts what a site's limits allow, exactly and in one place: fixed windows, one row per limit and key. */
export class Limiter extends DurableObject<Env> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS windows (name TEXT, key TEXT, ends INTEGER, used INTEGER, PRIMARY KEY (name, key)) WITHOUT ROWID",
    );
  }

  /** Takes one of a limit, or says when the next is to be had. */
  take(name: LimitName, key: string): LimitState {
    const state = this.peek(name, key);
    if (!state.allowed) return state;
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
    this.#scheduleCleanUp(ends);
    return { ...state, remaining: state.remaining - 1 };
  }

  /** Gives back what turned out not to count, such as a right sign-in. */
  giveBack(name: LimitName, key: string): void {
    this.#sql.exec("UPDATE windows SET used = max(0, used - 1) WHERE name = ? AND key = ?", name, key);
  }

  /** What is left, without taking any. */
  peek(name: LimitName, key: string): LimitState {
    const { quota, window } = LIMITS[name];
    const now = Date.now();
    const row = this.#sql
      .exec<{ ends: number; used: number }>("SELECT ends, used FROM windows WHERE name = ? AND key = ? AND ends > ?", name, key, now)
      .toArray()[0];
    const remaining = Math.max(0, quota - (row?.used ?? 0));
    return { allowed: remaining > 0, remaining, reset: row ? Math.ceil((row.ends - now) / 1000) : window };
  }

  override async alarm(): Promise<void> {
    this.#sql.exec("DELETE FROM windows WHERE ends <= ?", Date.now());
    const { next } = this.#sql.exec<{ next: number | null }>("SELECT max(ends) AS next FROM windows").one();
    if (next !== null) await this.ctx.storage.setAlarm(next);
  }

  #scheduleCleanUp(at: number): void {
    this.ctx.waitUntil(this.ctx.storage.getAlarm().then((alarm) => (alarm === null ? this.ctx.storage.setAlarm(at) : undefined)));
  }
}
