import { DurableObject } from "cloudflare:workers";
import { createDb } from "#db/client.ts";
import { KnownFacts, learn } from "#worker/services/automation-rules/facts.ts";
import { logError } from "#worker/lib/log.ts";
import { delayOf, firedBy } from "#worker/services/automation-rules/rule-engine.ts";
import { ProviderEventMessage, readRulebook, type Rulebook } from "#worker/services/automation-rules/automation.ts";
import { carryOut, noteDropped, noteFailed, noteScheduled } from "#worker/services/automation-rules/firings.ts";
import type { RuleFiring } from "#worker/services/automation-rules/plans.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";

/** After this long a firing that was begun and not finished is begun again. */
const RETRY_MS = 5_000;
const MAX_ATTEMPTS = 8;
/** As many firings are planned with one look at the database. */
const GROUP = 100;
/** Longer than an event's row is there by which a repeat of it is known. */
const REMEMBER_MS = 8 * 86_400_000;
const PRUNE_EVERY = 256;

type FiringRow = { event_id: string; rule_id: string; due: number; next: number; attempts: number; event: string };

/**
 * Evaluates a site's automation rules, named by the site. What an event makes fire is written down together with what it has told, in
 * one turn; doing it comes after and may be repeated, since what it makes has an id that follows from event and rule.
 */
export class Automation extends DurableObject<Env> {
  readonly #siteId: string;
  readonly #sql: SqlStorage;
  /** Firings that are being seen to. */
  readonly #busy = new Set<string>();
  #book: Promise<Rulebook> | undefined;
  #alarmAt: number | null = null;
  #taken = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = ctx.id.name ?? "";
    this.#sql = ctx.storage.sql;
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS handled (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS facts (provider_id TEXT PRIMARY KEY, known TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS firings (
        event_id TEXT NOT NULL, rule_id TEXT NOT NULL, due INTEGER NOT NULL, next INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
        event TEXT NOT NULL, PRIMARY KEY (event_id, rule_id));`);
  }

  /** Takes an event, once by its id, and does what it makes fire at once; what isn't due yet, or fails for now, is left to the alarm. */
  async handle(event: ProviderEventMessage): Promise<void> {
    const book = await this.#rulebook();
    const later = this.#take(book, event);
    await Promise.all([this.#work("event_id = ?", event.id), this.#noteScheduled(later)]);
  }

  /** The rules have changed: the next event finds them as they are now. */
  refresh(): void {
    this.#book = undefined;
  }

  /** Does what is due, also what was begun before a crash. Safe to run at any time. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    await this.#work();
  }

  /** Writes down what an event tells and makes fire; answers the firings that are for later. */
  #take(book: Rulebook, event: ProviderEventMessage): RuleFiring[] {
    const { id, providerId, at } = event;
    const provider = book.providers.get(providerId);
    if (this.#sql.exec("SELECT 1 FROM handled WHERE event_id = ?", id).toArray().length > 0) return [];
    const known = this.#facts(providerId);
    const waiting = book.index.get(providerId);
    const fired = provider && waiting ? firedBy(waiting, known, event, provider.ttl) : [];
    const firings = fired.map((rule): RuleFiring => ({ rule, event, due: at + delayOf(rule.jsonRule.trigger) }));
    this.ctx.storage.transactionSync(() => {
      this.#sql.exec("INSERT INTO handled (event_id, at) VALUES (?, ?)", id, at);
      if (provider) {
        // Rules may still wait for facts of which the provider's schema no longer speaks.
        const next = JSON.stringify(learn(known, [...provider.facts, ...(waiting?.keys() ?? [])], event));
        this.#sql.exec("INSERT OR REPLACE INTO facts (provider_id, known) VALUES (?, ?)", providerId, next);
      }
      for (const { rule, due } of firings) {
        const insert = "INSERT INTO firings (event_id, rule_id, due, next, event) VALUES (?, ?, ?, ?, ?)";
        this.#sql.exec(insert, id, rule.id, due, due, JSON.stringify(event));
      }
    });
    if (firings.length > 0) this.#schedule();
    if (++this.#taken % PRUNE_EVERY === 0) this.#sql.exec("DELETE FROM handled WHERE at < ?", at - REMEMBER_MS);
    return firings.filter(({ due }) => due > Date.now());
  }

  /** That a firing is for later is worth a note, but none that anything waits for. */
  async #noteScheduled(later: RuleFiring[]): Promise<void> {
    if (later.length === 0) return;
    try {
      await this.#asSystem(async (ctx) => void (await Promise.all(later.map((firing) => noteScheduled(ctx, firing)))));
    } catch (error) {
      logError("firing_not_noted", error, { siteId: this.#siteId });
    }
  }

  #facts(providerId: string): KnownFacts {
    const [row] = this.#sql.exec<{ known: string }>("SELECT known FROM facts WHERE provider_id = ?", providerId).toArray();
    return row ? KnownFacts.parse(JSON.parse(row.known)) : {};
  }

  /** Does those of the chosen firings that are due, a group at a time, until none is left that nobody is at. */
  async #work(where = "true", ...values: string[]): Promise<void> {
    try {
      for (let rows = this.#free(where, values); rows.length > 0; rows = this.#free(where, values)) await this.#attempt(rows);
    } finally {
      this.#schedule();
    }
  }

  /** Firings that are due and that nobody is at; those that were put off are due when their wait is over. */
  #free(where: string, values: string[]): FiringRow[] {
    const isFree = "event_id || ':' || rule_id NOT IN (SELECT value FROM json_each(?))";
    const select = `SELECT * FROM firings WHERE ${where} AND next <= ? AND ${isFree} ORDER BY due LIMIT ${GROUP}`;
    return this.#sql.exec<FiringRow>(select, ...values, Date.now(), JSON.stringify([...this.#busy])).toArray();
  }

  async #attempt(rows: FiringRow[]): Promise<void> {
    for (const row of rows) this.#busy.add(keyOf(row));
    try {
      await this.#see(rows);
    } catch (error) {
      for (const row of rows) this.#putOff(row, error);
    } finally {
      for (const row of rows) this.#busy.delete(keyOf(row));
    }
  }

  async #see(rows: FiringRow[]): Promise<void> {
    const { rules } = await this.#rulebook();
    const firings = rows.flatMap((row) => {
      const rule = rules.get(row.rule_id);
      return rule ? [{ row, rule, event: ProviderEventMessage.parse(JSON.parse(row.event)), due: row.due }] : [];
    });
    const gone = rows.filter((row) => !rules.has(row.rule_id));
    await this.#asSystem(async (ctx) => {
      await Promise.all(gone.map((row) => noteDropped(ctx, row.event_id, row.rule_id)));
      for (const row of gone) this.#forget(row);
      const results = await carryOut(ctx, firings);
      for (const [index, firing] of firings.entries()) await this.#settle(ctx, firing.row, firing, results[index]);
    });
  }

  async #settle(ctx: Ctx, row: FiringRow, firing: RuleFiring, result: PromiseSettledResult<void> | undefined): Promise<void> {
    const failed = result?.status === "rejected";
    if (failed && row.attempts + 1 < MAX_ATTEMPTS) return this.#putOff(row, result.reason);
    if (failed) await noteFailed(ctx, firing, "Tried in vain; the cause lies with the server");
    this.#forget(row);
  }

  #forget(row: FiringRow): void {
    this.#sql.exec("DELETE FROM firings WHERE event_id = ? AND rule_id = ?", row.event_id, row.rule_id);
  }

  #putOff(row: FiringRow, error: unknown): void {
    logError("firing_put_off", error, { siteId: this.#siteId, ruleId: row.rule_id });
    const next = Date.now() + RETRY_MS * 2 ** row.attempts;
    const update = "UPDATE firings SET attempts = attempts + 1, next = ? WHERE event_id = ? AND rule_id = ?";
    this.#sql.exec(update, next, row.event_id, row.rule_id);
  }

  /** The rules as they are; read once until they change. */
  #rulebook(): Promise<Rulebook> {
    if (this.#book) return this.#book;
    const book = readRulebook(this.env, this.#siteId).catch((error: unknown) => {
      if (this.#book === book) this.#book = undefined;
      throw error;
    });
    this.#book = book;
    return book;
  }

  /** Works as Tifo itself, without waiting for the site's log to be woken: it may be that log that waits for us. */
  #asSystem<T>(work: (ctx: Ctx) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const worker = { env: this.env, db: createDb(this.env.DB), now: Date.now() };
    this.ctx.waitUntil(asSystem(worker, this.#siteId, (ctx) => work(ctx).then(resolve, reject)));
    return promise;
  }

  /** Wakes when the next firing is due; those that should be done by now get a while, after which they are begun again. */
  #schedule(): void {
    const { next } = this.#sql.exec<{ next: number | null }>("SELECT min(next) AS next FROM firings").one();
    if (next === null) return;
    const at = next <= Date.now() ? Date.now() + RETRY_MS : next;
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(at));
  }
}

function keyOf(row: FiringRow): string {
  return `${row.event_id}:${row.rule_id}`;
}
