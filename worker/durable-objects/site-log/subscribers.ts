import { z } from "@hono/zod-openapi";
import { migrate } from "#worker/durable-objects/migrations.ts";
import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { LogEntry } from "./site-log.protocol.ts";

/** Events, and characters of them, per call to an endpoint; memory holds several copies of each during the call. */
const PAGE = 100;
const PAGE_CHARS = 1_000_000;
/** Endpoints that are updated in parallel. */
const MAX_PARALLEL = 4;
const ACCEPT_MS = 30_000;

const Services = z.array(z.string());
/** An endpoint's settings from its `webhook.*` events, the only source used here. */
const Settings = z.object({ _id: z.string(), services: Services, enabled: z.boolean() });

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS subscribers (
    id TEXT PRIMARY KEY, services TEXT NOT NULL, state TEXT NOT NULL, cursor INTEGER NOT NULL, changed INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS settings (id INTEGER PRIMARY KEY CHECK (id = 1), applied INTEGER NOT NULL);
  INSERT OR IGNORE INTO settings VALUES (1, 0);
  CREATE TABLE IF NOT EXISTS changes (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, services TEXT NOT NULL, state TEXT NOT NULL)`,
];

type State = "on" | "off" | "gone";
type SubscriberRow = { id: string; services: string; state: State; cursor: number; changed: number };
type ChangeRow = { sequence: number; id: string; services: string; state: State };
/** Events of the log in order, and whether there are more. */
export type LogPage = { entries: LogEntry[]; more: boolean };
const NOTHING: LogPage = { entries: [], more: false };
type Read = (after: number, upTo: number, limit: number, chars: number) => LogPage;

/**
 * Delivers a site's log to its webhook endpoint objects. Each has a cursor that moves once its object has stored the events, so a crash
 * repeats some and loses none. Endpoints and their settings also come from the log, each change at its position.
 */
export class Subscribers {
  readonly #env: Env;
  readonly #siteId: string;
  readonly #sql: SqlStorage;
  readonly #read: Read;

  constructor(env: Env, siteId: string, storage: DurableObjectStorage, read: Read) {
    this.#env = env;
    this.#siteId = siteId;
    this.#sql = storage.sql;
    this.#read = read;
    migrate(storage, "subscribers", SCHEMA);
  }

  /** Delivers the log up to its head to every endpoint; false if some need a retry. A failing endpoint doesn't block the others. */
  async deliverUpTo(head: number): Promise<boolean> {
    this.#recordChanges(head);
    const stuck = new Set<string>();
    for (const change of this.#sql.exec<ChangeRow>("SELECT * FROM changes ORDER BY sequence").toArray()) {
      if (stuck.has(change.id)) continue;
      // Events before a change use the settings before it.
      const own = this.#rows().filter(({ id }) => id === change.id);
      if (await this.#advanceAll(own, change.sequence)) this.#applyChange(change);
      else stuck.add(change.id);
    }
    const others = this.#rows().filter(({ id }) => !stuck.has(id));
    return (await this.#advanceAll(others, head)) && stuck.size === 0;
  }

  /** Erases the data of a deleted person's events at all endpoints. */
  async erase(resource: string, before: number): Promise<void> {
    await Promise.all(this.#rows().map(({ id }) => this.#endpoint(id).erase(resource, before)));
  }

  /** The last event that every endpoint has received; later ones are still needed. */
  deliveredUpTo(): number {
    return this.#sql
      .exec<{ least: number }>(
        `SELECT min(applied, coalesce((SELECT min(cursor) FROM subscribers WHERE state = 'on'), applied),
           coalesce((SELECT min(sequence) FROM changes), applied)) AS least FROM settings`,
      )
      .one().least;
  }

  /** Stores the log's endpoint changes until each is applied. Without `await`, so in one turn. */
  #recordChanges(head: number): void {
    const changes = this.#sql.exec<{ sequence: number; type: string; data: string }>(
      `SELECT sequence, type, data FROM events
       WHERE sequence > (SELECT applied FROM settings) AND sequence <= ? AND type LIKE 'webhook.%' ORDER BY sequence`,
      head,
    );
    for (const { sequence, type, data } of changes.toArray()) {
      const { _id, services, enabled } = Settings.parse(JSON.parse(data));
      const state = type === "webhook.deleted" ? "gone" : enabled ? "on" : "off";
      this.#sql.exec("INSERT INTO changes VALUES (?, ?, ?, ?)", sequence, _id, JSON.stringify(services), state);
    }
    this.#sql.exec("UPDATE settings SET applied = ?", head);
  }

  /** Applies a change in one turn, so that a crash leaves it either applied or not. */
  #applyChange({ sequence, id, services, state }: ChangeRow): void {
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
    const work = async () => {
      for (const row of queue)
        await this.#advance(row, upTo).catch((error: unknown) => {
          isComplete = false;
          logError("webhook_handover_failed", error, { siteId: this.#siteId });
        });
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
    return isComplete;
  }

  async #advance({ id, services, state, cursor, changed }: SubscriberRow, upTo: number): Promise<void> {
    const { toQueued } = await import("#worker/services/webhooks/queued-event.ts");
    const subscribed = Services.parse(JSON.parse(services));
    let isNotified = changed === 0;
    while (cursor < upTo || !isNotified) {
      // A disabled endpoint skips events until it is enabled again.
      const { entries, more } = state === "on" ? this.#read(cursor, upTo, PAGE, PAGE_CHARS) : NOTHING;
      const events = entries.flatMap((entry) => toQueued(entry, subscribed) ?? []);
      if (events.length > 0 || !isNotified) await withTimeout(this.#endpoint(id).accept(events, !isNotified), ACCEPT_MS);
      isNotified = true;
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
