import { z } from "@hono/zod-openapi";
import { WEBHOOK_SERVICES } from "../../db/enums.ts";
import { listSubscribers, toQueued } from "../services/webhook-dispatch.ts";
import type { LogEntry } from "./site-log.protocol.ts";

const PAGE = 100;

const Services = z.array(z.enum(WEBHOOK_SERVICES));

type SubscriberRow = { id: string; services: string; state: "on" | "off" | "gone"; cursor: number; changed: number };
type Read = (after: number, upTo: number, limit: number) => LogEntry[];

/**
 * Hands a site's log to its webhook endpoints. Each has a cursor that moves once its object has taken the events over, so a crash
 * repeats some and loses none. Which endpoints there are is read anew when the log tells of a change of them.
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
      CREATE TABLE IF NOT EXISTS subscriptions (id INTEGER PRIMARY KEY CHECK (id = 1), changed INTEGER);
      INSERT OR IGNORE INTO subscriptions VALUES (1, 0);`);
  }

  /** Notes, in the transaction that appends an event, whether it tells of a change of endpoints. */
  note(type: string, sequence: number): void {
    if (type.startsWith("webhook.")) this.#sql.exec("UPDATE subscriptions SET changed = ?", sequence);
  }

  /** Brings every endpoint up to the head of the log; false: some are to be tried again. */
  async handOver(head: number): Promise<boolean> {
    const { changed } = this.#sql.exec<{ changed: number | null }>("SELECT changed FROM subscriptions").one();
    if (changed !== null) {
      // What came before the change goes by the settings before it.
      await this.#advanceAll(changed);
      await this.#reload(changed);
    }
    return this.#advanceAll(head);
  }

  /** Has the endpoints forget what the events of a deleted person say. */
  async erase(resource: string, before: number): Promise<void> {
    await Promise.all(this.#rows().map(({ id }) => this.#endpoint(id).erase(resource, before)));
  }

  /** The last event that every endpoint has; undefined where there is none. */
  handedTo(): number | undefined {
    const { least } = this.#sql.exec<{ least: number | null }>("SELECT min(cursor) AS least FROM subscribers WHERE state = 'on'").one();
    return least ?? undefined;
  }

  async #advanceAll(upTo: number): Promise<boolean> {
    const outcomes = await Promise.allSettled(this.#rows().map((row) => this.#advance(row, upTo)));
    const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
    for (const message of failures)
      console.error(JSON.stringify({ level: "error", event: "webhook_handover_failed", siteId: this.#siteId, message }));
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

  async #reload(changed: number): Promise<void> {
    const endpoints = await listSubscribers(this.#env, this.#siteId);
    this.#sql.exec("UPDATE subscribers SET state = 'gone', changed = 1");
    for (const { id, enabled, services, created } of endpoints)
      // D1 may know an endpoint before the log does, and then what came before it is still to be handed over: to the others alone.
      this.#sql.exec(
        `INSERT INTO subscribers VALUES (?1, ?2, ?3, max(?4, (SELECT coalesce(max(sequence), 0) FROM events WHERE created < ?5)), 1)
         ON CONFLICT DO UPDATE SET services = excluded.services, state = excluded.state, changed = 1`,
        id,
        JSON.stringify(services),
        enabled ? "on" : "off",
        changed,
        created,
      );
    this.#sql.exec("UPDATE subscriptions SET changed = NULL WHERE changed = ?", changed);
  }

  #rows(): SubscriberRow[] {
    return this.#sql.exec<SubscriberRow>("SELECT * FROM subscribers").toArray();
  }

  #endpoint(id: string) {
    return this.#env.WEBHOOK_ENDPOINT.getByName(`${this.#siteId}:${id}`);
  }
}
