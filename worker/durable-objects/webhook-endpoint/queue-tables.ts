import { PAGE_TABLES } from "./page-store.ts";

/** The tables of a queue. `deliveries` has the rows of single events, `health` those of the receiver. */
export const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, event_id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    resource TEXT NOT NULL, service TEXT NOT NULL, event TEXT NOT NULL, account TEXT, method TEXT, origin_path TEXT,
    state TEXT NOT NULL DEFAULT 'pending', tries INTEGER NOT NULL DEFAULT 0, due INTEGER, created INTEGER NOT NULL, settled INTEGER,
    attempts TEXT NOT NULL DEFAULT '[]');
  CREATE INDEX IF NOT EXISTS deliveries_pending ON deliveries (resource, number) WHERE state = 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (due, number) WHERE due IS NOT NULL;
  CREATE TABLE IF NOT EXISTS health (
    id INTEGER PRIMARY KEY CHECK (id = 1), failures INTEGER NOT NULL, failing_since INTEGER, paused_until INTEGER NOT NULL);
  INSERT OR IGNORE INTO health VALUES (1, 0, NULL, 0)`,
  PAGE_TABLES,
];
