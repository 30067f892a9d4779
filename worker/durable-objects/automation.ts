import { SiteObject } from "./site-object.ts";
import { siteDb } from "#db/databases.ts";
import { KnownFacts, updateFacts } from "#worker/services/automation-rules/facts.ts";
import { logError } from "#worker/lib/log.ts";
import { delayOf, triggeredRules } from "#worker/services/automation-rules/rule-engine.ts";
import { readRuleSet, type RuleSet } from "#worker/services/automation-rules/automation.ts";
import { ProviderEventMessage } from "#worker/services/automation-rules/schemas.ts";
import type { RuleFiring } from "#worker/services/automation-rules/plans.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { migrate } from "./migrations.ts";

/** After this long, an unfinished firing is started again. */
const RETRY_MS = 5_000;
const MAX_ATTEMPTS = 8;
/** How many firings are planned with one database query. */
const GROUP = 100;
/** Longer than an event's row is kept, by which a retry of the event is recognized. */
const REMEMBER_MS = 8 * 86_400_000;
const PRUNE_EVERY = 256;

const loadFirings = () => import("#worker/services/automation-rules/firings.ts");

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS handled (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS facts (provider_id TEXT PRIMARY KEY, known TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS firings (
    event_id TEXT NOT NULL, rule_id TEXT NOT NULL, due INTEGER NOT NULL, next INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
    event TEXT NOT NULL, PRIMARY KEY (event_id, rule_id))`,
];

type FiringRow = { event_id: string; rule_id: string; due: number; next: number; attempts: number; event: string };

/**
 * Evaluates a site's automation rules, named by the site. An event's facts and the firings it causes are stored in one turn; executing
 * firings comes later and is safe to repeat, because the ids of what they create derive from event and rule.
 */
export class Automation extends SiteObject {
  readonly #siteId: string;
  readonly #sql: SqlStorage;
  /** Firings that are being executed. */
  readonly #busy = new Set<string>();
  #rulebook: Promise<RuleSet> | undefined;
  #alarmAt: number | null = null;
  #handled = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = ctx.id.name ?? "";
    this.#sql = ctx.storage.sql;
    migrate(ctx.storage, "automation", SCHEMA);
  }

  /** Handles an event, idempotent by its id, and executes the firings that are due; the alarm executes delayed and failed ones. */
  async handle(event: ProviderEventMessage): Promise<void> {
    const rulebook = await this.#loadRulebook();
    const delayed = this.#record(rulebook, event);
    await Promise.all([this.#work("event_id = ?", event.id), this.#recordScheduled(delayed)]);
  }

  /** Drops the cached rules after a change, so that the next event reads the current ones. */
  refresh(): void {
    this.#rulebook = undefined;
  }

  /** Executes due firings, including those interrupted by a crash. Safe to run at any time. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    await this.#work();
  }

  /** Stores an event's facts and firings; returns the delayed firings. */
  #record(rulebook: RuleSet, event: ProviderEventMessage): RuleFiring[] {
    const { id, providerId, at } = event;
    const provider = rulebook.providers.get(providerId);
    if (this.#sql.exec("SELECT 1 FROM handled WHERE event_id = ?", id).toArray().length > 0) return [];
    const known = this.#facts(providerId);
    const waitingRules = rulebook.index.get(providerId);
    const fired = provider && waitingRules ? triggeredRules(waitingRules, known, event, provider.ttl) : [];
    const firings = fired.map((rule): RuleFiring => ({ rule, event, due: at + delayOf(rule.jsonRule.trigger) }));
    this.ctx.storage.transactionSync(() => {
      this.#sql.exec("INSERT INTO handled (event_id, at) VALUES (?, ?)", id, at);
      if (provider) {
        // Rules may still wait for facts that the provider's schema no longer declares.
        const next = JSON.stringify(updateFacts(known, [...provider.facts, ...(waitingRules?.keys() ?? [])], event));
        this.#sql.exec("INSERT OR REPLACE INTO facts (provider_id, known) VALUES (?, ?)", providerId, next);
      }
      for (const { rule, due } of firings) {
        const insert = "INSERT INTO firings (event_id, rule_id, due, next, event) VALUES (?, ?, ?, ?, ?)";
        this.#sql.exec(insert, id, rule.id, due, due, JSON.stringify(event));
      }
    });
    if (firings.length > 0) this.#schedule();
    if (++this.#handled % PRUNE_EVERY === 0) this.#sql.exec("DELETE FROM handled WHERE at < ?", at - REMEMBER_MS);
    return firings.filter(({ due }) => due > Date.now());
  }

  /** Logs delayed firings; a failure to do so doesn't matter. */
  async #recordScheduled(delayed: RuleFiring[]): Promise<void> {
    if (delayed.length === 0) return;
    try {
      const { recordScheduled } = await loadFirings();
      await this.#asSystem(async (ctx) => void (await Promise.all(delayed.map((firing) => recordScheduled(ctx, firing)))));
    } catch (error) {
      logError("firing_not_noted", error, { siteId: this.#siteId });
    }
  }

  #facts(providerId: string): KnownFacts {
    const [row] = this.#sql.exec<{ known: string }>("SELECT known FROM facts WHERE provider_id = ?", providerId).toArray();
    return row ? KnownFacts.parse(JSON.parse(row.known)) : {};
  }

  /** Executes the selected firings that are due, a group at a time, until none is left that isn't already running. */
  async #work(where = "true", ...values: string[]): Promise<void> {
    try {
      for (let rows = this.#free(where, values); rows.length > 0; rows = this.#free(where, values)) await this.#attempt(rows);
    } finally {
      this.#schedule();
    }
  }

  /** Firings that are due and not already running; postponed ones are due once their wait is over. */
  #free(where: string, values: string[]): FiringRow[] {
    const isFree = "event_id || ':' || rule_id NOT IN (SELECT value FROM json_each(?))";
    const select = `SELECT * FROM firings WHERE ${where} AND next <= ? AND ${isFree} ORDER BY due LIMIT ${GROUP}`;
    return this.#sql.exec<FiringRow>(select, ...values, Date.now(), JSON.stringify([...this.#busy])).toArray();
  }

  async #attempt(rows: FiringRow[]): Promise<void> {
    for (const row of rows) this.#busy.add(keyOf(row));
    try {
      await this.#execute(rows);
    } catch (error) {
      for (const row of rows) this.#postpone(row, error);
    } finally {
      for (const row of rows) this.#busy.delete(keyOf(row));
    }
  }

  async #execute(rows: FiringRow[]): Promise<void> {
    const { rules, paused } = await this.#loadRulebook();
    const firings = rows.flatMap((row) => {
      const rule = rules.get(row.rule_id);
      return rule ? [{ row, rule, event: ProviderEventMessage.parse(JSON.parse(row.event)), due: row.due }] : [];
    });
    const gone = rows.filter((row) => !rules.has(row.rule_id));
    const { executeFirings, recordDropped } = await loadFirings();
    await this.#asSystem(async (ctx) => {
      await Promise.all(gone.map((row) => recordDropped(ctx, row.event_id, row.rule_id)));
      for (const row of gone) this.#delete(row);
      const results = await executeFirings(ctx, firings, paused);
      for (const [index, firing] of firings.entries()) await this.#settle(ctx, firing.row, firing, results[index]);
    });
  }

  async #settle(ctx: Ctx, row: FiringRow, firing: RuleFiring, result: PromiseSettledResult<void> | undefined): Promise<void> {
    const failed = result?.status === "rejected";
    if (failed && row.attempts + 1 < MAX_ATTEMPTS) return this.#postpone(row, result.reason);
    if (failed) {
      const { recordFailed } = await loadFirings();
      await recordFailed(ctx, firing, "Failed after several attempts because of a server error");
    }
    this.#delete(row);
  }

  #delete(row: FiringRow): void {
    this.#sql.exec("DELETE FROM firings WHERE event_id = ? AND rule_id = ?", row.event_id, row.rule_id);
  }

  #postpone(row: FiringRow, error: unknown): void {
    logError("firing_postponed", error, { siteId: this.#siteId, ruleId: row.rule_id });
    const next = Date.now() + RETRY_MS * 2 ** row.attempts;
    const update = "UPDATE firings SET attempts = attempts + 1, next = ? WHERE event_id = ? AND rule_id = ?";
    this.#sql.exec(update, next, row.event_id, row.rule_id);
  }

  /** The current rules, read once until they change. */
  #loadRulebook(): Promise<RuleSet> {
    if (this.#rulebook) return this.#rulebook;
    const rulebook = readRuleSet(this.env, this.#siteId).catch((error: unknown) => {
      if (this.#rulebook === rulebook) this.#rulebook = undefined;
      throw error;
    });
    this.#rulebook = rulebook;
    return rulebook;
  }

  /** Runs as Tifo itself, without waiting for the site's log to be nudged: that log may be waiting for this object. */
  #asSystem<T>(work: (ctx: Ctx) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const worker = { env: this.env, db: siteDb(this.env, this.#siteId), now: Date.now() };
    this.ctx.waitUntil(asSystem(worker, this.#siteId, (ctx) => work(ctx).then(resolve, reject)));
    return promise;
  }

  /** Sets the alarm for the next due firing; those already due get some time before they are started again. */
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
