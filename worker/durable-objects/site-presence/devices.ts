import { createHash } from "node:crypto";
import type { ReportedDevice } from "#worker/durable-objects/channel/channel.protocol.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The channel id of the whole site. */
const SITE = "";

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS devices (day INTEGER NOT NULL, device TEXT NOT NULL, PRIMARY KEY (day, device)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS device_networks (
    day INTEGER NOT NULL, network TEXT NOT NULL, devices INTEGER NOT NULL, PRIMARY KEY (day, network)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS channel_devices (
    day INTEGER NOT NULL, channel_id TEXT NOT NULL, device TEXT NOT NULL, PRIMARY KEY (day, channel_id, device)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS new_devices (
    hour INTEGER NOT NULL, channel_id TEXT NOT NULL, devices INTEGER NOT NULL, PRIMARY KEY (hour, channel_id)) WITHOUT ROWID`,
];

/** Devices that the site, or one of its channels, saw in an hour for the first time that day. */
export type NewDevices = { hour: number; channelId: string; devices: number };

/**
 * The distinct devices of a site and its channels per day (UTC). Anyone can invent device ids, so each network adds only a limited number
 * per day; devices beyond that can watch but aren't counted. Only hashes are stored, with a salt that is deleted after the day.
 */
export class SiteDevices {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #perNetwork: number;
  #salt: { day: number; value: string } | undefined;

  /** `perNetwork` 0: no limit. */
  constructor(storage: DurableObjectStorage, perNetwork: number) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#perNetwork = perNetwork;
    migrate(storage, "devices", SCHEMA);
  }

  add(channelId: string, reported: ReportedDevice[], now: number): void {
    if (reported.length === 0) return;
    const day = dayOf(now);
    const hashed = reported.map(({ device, network }) => ({
      device: this.#hash(day, device),
      network: network === null ? null : this.#hash(day, network),
    }));
    this.#storage.transactionSync(() => {
      let added = 0;
      for (const [network, some] of Map.groupBy(hashed, (device) => device.network))
        added += this.#addOfNetwork(
          day,
          network,
          some.map(({ device }) => device),
        );
      // Of the devices that count for the site, those that are new to the channel.
      const insert = `INSERT OR IGNORE INTO channel_devices SELECT ?1, ?2, value FROM json_each(?3)
        WHERE value IN (SELECT device FROM devices WHERE day = ?1) RETURNING device`;
      const list = JSON.stringify(hashed.map(({ device }) => device));
      this.#count(SITE, added, now);
      this.#count(channelId, this.#sql.exec(insert, day, channelId, list).toArray().length, now);
    });
  }

  /** The number of devices today. */
  count(now: number): number {
    return this.#sql.exec<{ devices: number }>("SELECT count(*) AS devices FROM devices WHERE day = ?", dayOf(now)).one().devices;
  }

  /** The new devices of each hour from `from` on. The empty channel id is the site. */
  newSince(from: number): NewDevices[] {
    const select = "SELECT hour, channel_id AS channelId, devices FROM new_devices WHERE hour >= ?";
    return this.#sql.exec<NewDevices>(select, from).toArray();
  }

  prune(now: number): void {
    const yesterday = dayOf(now) - 1;
    for (const table of ["devices", "device_networks", "channel_devices"]) this.#sql.exec(`DELETE FROM ${table} WHERE day < ?`, yesterday);
    this.#sql.exec("DELETE FROM new_devices WHERE hour < ?", yesterday * DAY_MS);
    const salt = this.#storage.kv.get<{ day: number }>("deviceSalt");
    if (salt && salt.day < dayOf(now)) this.#storage.kv.delete("deviceSalt");
  }

  #addOfNetwork(day: number, network: string | null, devices: string[]): number {
    const room = network === null || this.#perNetwork === 0 ? -1 : this.#perNetwork - this.#added(day, network);
    if (room === 0) return 0;
    const insert = `INSERT INTO devices SELECT ?1, value FROM json_each(?2)
      WHERE value NOT IN (SELECT device FROM devices WHERE day = ?1) LIMIT ?3 RETURNING device`;
    const added = this.#sql.exec(insert, day, JSON.stringify(devices), room).toArray().length;
    if (network === null || added === 0) return added;
    const count = "INSERT INTO device_networks VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET devices = devices + excluded.devices";
    this.#sql.exec(count, day, network, added);
    return added;
  }

  #count(channelId: string, devices: number, now: number): void {
    if (devices === 0) return;
    const count = "INSERT INTO new_devices VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET devices = devices + excluded.devices";
    this.#sql.exec(count, now - (now % HOUR_MS), channelId, devices);
  }

  #added(day: number, network: string): number {
    const select = "SELECT devices FROM device_networks WHERE day = ? AND network = ?";
    return Math.min(this.#perNetwork, this.#sql.exec<{ devices: number }>(select, day, network).toArray()[0]?.devices ?? 0);
  }

  /** Without the day's salt, nobody can tell what was hashed, nor relate two days. */
  #hash(day: number, value: string): string {
    const stored = this.#salt ?? this.#storage.kv.get<{ day: number; value: string }>("deviceSalt");
    if (stored?.day === day) this.#salt = stored;
    else this.#storage.kv.put("deviceSalt", (this.#salt = { day, value: crypto.randomUUID() }));
    return createHash("sha256").update(`${this.#salt.value}:${value}`).digest("hex").slice(0, 24);
  }
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}
