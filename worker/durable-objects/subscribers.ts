import { z } from "@hono/zod-openapi";
import { logError } from "../lib/log.ts";
import { toQueued } from "../services/webhook-dispatch.ts";
import type { LogEntry } from "./site-log.protocol.ts";

const PAGE = 100;

const Services = z.array(z.string());
/** What the events `webhook.*` tell of an endpoint, of which this goes by alone. */
const Settings = z.object({ _id: z.string(), services: Services, enabled: z.boolean() });

type SubscriberRow = { id: string; services: string; state: "on" | "off" | "gone"; cursor: number; changed: number };
type Change = { sequence: number; type: string; settings: z.output<typeof Settings> };
type Read = (after: number, upTo: number, limit: number) => LogEntry[];

/**
 * Hands a site's log to its webhook endpoints. Each has a cursor that moves once its object has taken the events over, so a crash
 * repeats some and loses none. Which endpoints there are and what they want is taken from the log as well, each change in its place.
 */
export class Subscribers {
  readonly #env: Env;
  readonly #siteId: string;
  readonly #sql: SqlStorage;
  readonly #read: Read;

  constructor(env: Env, siteId: string, sql: SqlStorage, read: Read) {
    this.#env = env;
    this.#siteId = siteId;
    this.#sql = sql;
    this.#read = read;
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS subscribers (
        id TEXT PRIMARY KEY, services TEXT NOT NULL, state TEXT NOT NULL, cursor INTEGER NOT NULL, changed INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS settings (id INTEGER PRIMARY KEY CHECK (id = 1), applied INTEGER NOT NULL);
      INSERT OR IGNORE INTO settings VALUES (1, 0);
      DROP TABLE IF EXISTS subscriptions;`);
  }

  /** Brings every endpoint up to the head of the log; false: some are to be tried again. */
  async handOver(head: number): Promise<boolean> {
    for (const change of this.#changes(head)) {
      // What came before a change goes by the settings before it.
      const own = this.#rows().filter(({ id }) => id === change.settings._id);
      if (!(await this.#advanceAll(own, change.sequence))) return false;
      this.#apply(change);
    }
    this.#sql.exec("UPDATE settings SET applied = ?", head);
    return this.#advanceAll(this.#rows(), head);
  }

  /** Has the endpoints forget what the events of a deleted person say. */
  async erase(resource: string, before: number): Promise<void> {
    await Promise.all(this.#rows().map(({ id }) => this.#endpoint(id).erase(resource, before)));
  }

  /** The last event that every endpoint has; those after it are still needed. */
  handedTo(): number {
    return this.#sql
      .exec<{ least: number }>(
        "SELECT min(applied, coalesce((SELECT min(cursor) FROM subscribers WHERE state = 'on'), applied)) AS least FROM settings",
      )
      .one().least;
  }

  /** Events that tell of a change of endpoints and have yet to be followed. */
  #changes(head: number): Change[] {
    return this.#sql
      .exec<{ sequence: number; type: string; data: string }>(
        `SELECT sequence, type, data FROM events
         WHERE sequence > (SELECT applied FROM settings) AND sequence <= ? AND type LIKE 'webhook.%' ORDER BY sequence`,
        head,
      )
      .toArray()
      .map(({ sequence, type, data }) => ({ sequence, type, settings: Settings.parse(JSON.parse(data)) }));
  }

  /** One turn, so that a crash leaves a change either followed or not. */
  #apply({ sequence, type, settings: { _id, services, enabled } }: Change): void {
    this.#sql.exec(
      `INSERT INTO subscribers VALUES (?, ?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET services = excluded.services, state = excluded.state, changed = 1`,
      ...[_id, JSON.stringify(services), type === "webhook.deleted" ? "gone" : enabled ? "on" : "off", sequence],
    );
    this.#sql.exec("UPDATE settings SET applied = ?", sequence);
  }

  async #advanceAll(rows: SubscriberRow[], upTo: number): Promise<boolean> {
    const outcomes = await Promise.allSettled(rows.map((row) => this.#advance(row, upTo)));
    const failures = outcomes.filter((outcome) => outcome.status === "rejected");
    for (const { reason } of failures) logError("webhook_handover_failed", reason, { siteId: this.#siteId });
    return failures.length === 0;
  }

  async #advance({ id, services, state, cursor, changed }: SubscriberRow, upTo: number): Promise<void> {
    const subscribed = Services.parse(JSON.parse(services));
    let isTold = changed === 0;
    while (cursor < upTo || !isTold) {
      // One that is off misses what happens: it gets what comes after it is on again.
      const entries = state === "on" ? this.#read(cursor, upTo, PAGE) : [];
      const events = entries.flatMap((entry) => toQueued(entry, subscribed) ?? []);
      if (events.length > 0 || !isTold) await this.#endpoint(id).accept(events, !isTold);
      isTold = true;
      cursor = entries.length === PAGE ? (entries.at(-1)?.sequence ?? upTo) : Math.max(cursor, upTo);
      this.#sql.exec("UPDATE subscribers SET cursor = ?, changed = 0 WHERE id = ?", cursor, id);
    }
    if (state === "gone") this.#sql.exec("DELETE FROM subscribers WHERE id = ?", id);
  }

  #rows(): SubscriberRow[] {
    return this.#sql.exec<SubscriberRow>("SELECT * FROM subscribers").toArray();
  }

  #endpoint(id: string) {
    return this.#env.WEBHOOK_ENDPOINT.getByName(`${this.#siteId}:${id}`);
  }
}
