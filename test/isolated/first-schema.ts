// The tables that the objects of the first release created. Never change them.

export const LIMITER = "CREATE TABLE windows (name TEXT, key TEXT, ends INTEGER, used INTEGER, PRIMARY KEY (name, key)) WITHOUT ROWID";

const STATES = "CREATE TABLE states (key TEXT PRIMARY KEY, type TEXT NOT NULL, at INTEGER NOT NULL, body TEXT) WITHOUT ROWID;";

export const CHANNEL = `
  CREATE TABLE frames (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL, tags TEXT, shows TEXT, until INTEGER, clears TEXT,
    rule TEXT);
  CREATE TABLE broadcasts (
    broadcast_id TEXT PRIMARY KEY, overlay_id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, ends_at INTEGER NOT NULL,
    until INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0, tags TEXT, body TEXT NOT NULL);
  CREATE TABLE applied (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, seq INTEGER NOT NULL, starts_at INTEGER NOT NULL, ends_at INTEGER NOT NULL,
    ids TEXT NOT NULL);
  CREATE TABLE rules (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, source TEXT NOT NULL, body TEXT NOT NULL);
  CREATE TABLE receipts (
    broadcast_id TEXT NOT NULL, relay INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (broadcast_id, relay)
  ) WITHOUT ROWID;
  ${STATES}`;

export const RELAY = `
  CREATE TABLE receipts (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE spent_groups (number INTEGER PRIMARY KEY, nonces TEXT NOT NULL, expires INTEGER NOT NULL);`;

export const SITE_PRESENCE = `
  CREATE TABLE commands (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL, kind TEXT NOT NULL, overlay_id TEXT, body TEXT NOT NULL);
  CREATE TABLE reached (
    broadcast_id TEXT NOT NULL, channel_id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (broadcast_id, channel_id)
  ) WITHOUT ROWID;
  CREATE TABLE rechecks (
    account_id TEXT PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL, pending INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX rechecks_pending ON rechecks (number) WHERE pending = 1;
  CREATE TABLE devices (day INTEGER NOT NULL, device TEXT NOT NULL, PRIMARY KEY (day, device)) WITHOUT ROWID;
  CREATE TABLE device_networks (
    day INTEGER NOT NULL, network TEXT NOT NULL, devices INTEGER NOT NULL, PRIMARY KEY (day, network)) WITHOUT ROWID;
  CREATE TABLE relays (channel_id TEXT NOT NULL, relay INTEGER NOT NULL, PRIMARY KEY (channel_id, relay)) WITHOUT ROWID;
  CREATE TABLE rules (position INTEGER PRIMARY KEY, id TEXT NOT NULL, channel_id TEXT, body TEXT NOT NULL);
  ${STATES}`;

export const SITE_LOG = `
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, previous INTEGER, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, resource TEXT NOT NULL,
    data TEXT NOT NULL, actor TEXT NOT NULL, request_id TEXT NOT NULL, origin TEXT, created INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX events_resource ON events (resource, sequence);
  CREATE INDEX events_created ON events (created);
  CREATE INDEX events_undone ON events (sequence) WHERE done = 0;
  CREATE TABLE retries (sequence INTEGER PRIMARY KEY, tries INTEGER NOT NULL, due INTEGER NOT NULL);
  CREATE INDEX retries_due ON retries (due);
  CREATE TABLE resources (resource TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE upkeep (id INTEGER PRIMARY KEY CHECK (id = 1), prune_due INTEGER NOT NULL);
  INSERT INTO upkeep VALUES (1, 0);
  CREATE TABLE subscribers (
    id TEXT PRIMARY KEY, services TEXT NOT NULL, state TEXT NOT NULL, cursor INTEGER NOT NULL, changed INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), applied INTEGER NOT NULL);
  INSERT INTO settings VALUES (1, 0);
  CREATE TABLE changes (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, services TEXT NOT NULL, state TEXT NOT NULL);`;

export const WEBHOOK_ENDPOINT = `
  CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, event_id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    resource TEXT NOT NULL, service TEXT NOT NULL, event TEXT NOT NULL, account TEXT, method TEXT, origin_path TEXT,
    state TEXT NOT NULL DEFAULT 'pending', tries INTEGER NOT NULL DEFAULT 0, due INTEGER, created INTEGER NOT NULL, settled INTEGER,
    attempts TEXT NOT NULL DEFAULT '[]');
  CREATE INDEX deliveries_pending ON deliveries (resource, number) WHERE state = 'pending';
  CREATE INDEX deliveries_due ON deliveries (due, number) WHERE due IS NOT NULL;
  CREATE TABLE health (
    id INTEGER PRIMARY KEY CHECK (id = 1), failures INTEGER NOT NULL, failing_since INTEGER, paused_until INTEGER NOT NULL);
  INSERT INTO health VALUES (1, 0, NULL, 0);`;

export const POLL_COUNTER = `
  CREATE TABLE votes (
    seq INTEGER PRIMARY KEY, account_id TEXT NOT NULL, n INTEGER NOT NULL, answer_id TEXT NOT NULL,
    request_id TEXT NOT NULL, created INTEGER NOT NULL, UNIQUE (account_id, n)
  )`;

export const AUTOMATION = `
  CREATE TABLE handled (event_id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE facts (provider_id TEXT PRIMARY KEY, known TEXT NOT NULL);
  CREATE TABLE firings (
    event_id TEXT NOT NULL, rule_id TEXT NOT NULL, due INTEGER NOT NULL, next INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
    event TEXT NOT NULL, PRIMARY KEY (event_id, rule_id));`;
