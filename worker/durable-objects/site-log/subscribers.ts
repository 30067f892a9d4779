import { z } from "@hono/zod-openapi";
import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { toQueued } from "#worker/services/webhooks/dispatch.ts";
import type { LogEntry } from "./site-log.protocol.ts";

/** Events, and characters of them, that an endpoint is handed in one call; each is held several times over meanwhile. */
const PAGE = 100;
const PAGE_CHARS = 1_000_000;
/** Endpoints that are brought up to date side by side. */
const AT_ONCE = 4;
const ACCEPT_MS = 30_000;

const Services = z.array(z.string());
/** What the events `webhook.*` tell of an endpoint, of which this goes by alone. */
const Settings = z.object({ _id: z.string(), services: Services, enabled: z.boolean() });

type State = "on" | "off" | "gone";
type SubscriberRow = { id: string; services: string; state: State; cursor: number; changed: number };
type ChangeRow = { sequence: number; id: string; services: string; state: State };
/** Events of the log in order, and whether more follow. */
export type LogPage = { entries: LogEntry[]; more: boolean };
const NOTHING: LogPage = { entries: [], more: false };
type Read = (after: number, upTo: number, limit: number, chars: number) => LogPage;

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
      CREATE TABLE IF NOT EXISTS changes (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, services TEXT NOT NULL, state TEXT NOT NULL);`);
  }

  /** Brings every endpoint up to the head of the log; false: some are to be tried again. One that can't be told holds up no other. */
  async handOver(head: number): Promise<boolean> {
    this.#noteChanges(head);
    const stuck = new Set<string>();
    for (const change of this.#sql.exec<ChangeRow>("SELECT * FROM changes ORDER BY sequence").toArray()) {
      if (stuck.has(change.id)) continue;
      // What came before a change goes by the settings before it.
      const own = this.#rows().filter(({ id }) => id === change.id);
      if (await this.#advanceAll(own, change.sequence)) this.#follow(change);
      else stuck.add(change.id);
    }
    const others = this.#rows().filter(({ id }) => !stuck.has(id));
    return (await this.#advanceAll(others, head)) && stuck.size === 0;
  }

  /** Has the endpoints forget what the events of a deleted person say. */
  async erase(resource: string, before: number): Promise<void> {
    await Promise.all(this.#rows().map(({ id }) => this.#endpoint(id).erase(resource, before)));
  }

  /** The last event that every endpoint has; those after it are still needed. */
  handedTo(): number {
    return this.#sql
      .exec<{ least: number }>(
        `SELECT min(applied, coalesce((SELECT min(cursor) FROM subscribers WHERE state = 'on'), applied),
           coalesce((SELECT min(sequence) FROM changes), applied)) AS least FROM settings`,
      )
      .one().least;
  }

  /** Keeps what the log tells of changes of endpoints until each is followed. In one turn, as all that has no `await`. */
  #noteChanges(head: number): void {
    const told = this.#sql.exec<{ sequence: number; type: string; data: string }>(
      `SELECT sequence, type, data FROM events
       WHERE sequence > (SELECT applied FROM settings) AND sequence <= ? AND type LIKE 'webhook.%' ORDER BY sequence`,
      head,
    );
    for (const { sequence, type, data } of told.toArray()) {
      const { _id, services, enabled } = Settings.parse(JSON.parse(data));
      const state = type === "webhook.deleted" ? "gone" : enabled ? "on" : "off";
      this.#sql.exec("INSERT INTO changes VALUES (?, ?, ?, ?)", sequence, _id, JSON.stringify(services), state);
    }
    this.#sql.exec("UPDATE settings SET applied = ?", head);
  }

  /** One turn, so that a crash leaves a change either followed or not. */
  #follow({ sequence, id, services, state }: ChangeRow): void {
    this.#sql.exec(
      `INSERT INTO subscribers VALUES (?, ?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET services = excluded.services, state = excluded.state, changed = 1`,
      ...[id, services, state, sequence],
    );
    this.#sql.exec("DELETE FROM changes WHERE sequence = ?", sequence);
  }

  async #advanceAll(rows: SubscriberRow[], upTo: number): Promise<boolean> {
    const queue = rows.values();
    let isComplete = true;
    const takeTurns = async () => {
      for (const row of queue)
        await this.#advance(row, upTo).catch((error: unknown) => {
          isComplete = false;
          logError("webhook_handover_failed", error, { siteId: this.#siteId });
        });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
    return isComplete;
  }

  async #advance({ id, services, state, cursor, changed }: SubscriberRow, upTo: number): Promise<void> {
    const subscribed = Services.parse(JSON.parse(services));
    let isTold = changed === 0;
    while (cursor < upTo || !isTold) {
      // One that is off misses what happens: it gets what comes after it is on again.
      const { entries, more } = state === "on" ? this.#read(cursor, upTo, PAGE, PAGE_CHARS) : NOTHING;
      const events = entries.flatMap((entry) => toQueued(entry, subscribed) ?? []);
      if (events.length > 0 || !isTold) await withTimeout(this.#endpoint(id).accept(events, !isTold), ACCEPT_MS);
      isTold = true;
      cursor = more ? (entries.at(-1)?.sequence ?? upTo) : Math.max(cursor, upTo);
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
