import type { ReportedDevice } from "#worker/durable-objects/channel/channel.protocol.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";

const DAY_MS = 86_400_000;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS devices (day INTEGER NOT NULL, device TEXT NOT NULL, PRIMARY KEY (day, device)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS device_networks (
    day INTEGER NOT NULL, network TEXT NOT NULL, devices INTEGER NOT NULL, PRIMARY KEY (day, network)) WITHOUT ROWID`,
];

/**
 * The distinct devices of a site per day (UTC). Anyone can invent device ids, so each network adds only a limited number per day; devices
 * beyond that can watch but aren't counted.
 */
export class SiteDevices {
  readonly #sql: SqlStorage;
  readonly #perNetwork: number;

  /** `perNetwork` 0: no limit. */
  constructor(storage: DurableObjectStorage, perNetwork: number) {
    this.#sql = storage.sql;
    this.#perNetwork = perNetwork;
    migrate(storage, "devices", SCHEMA);
  }

  add(reported: ReportedDevice[], now: number): void {
    const day = dayOf(now);
    for (const [network, some] of Map.groupBy(reported, (device) => device.network)) {
      const devices = JSON.stringify(some.map(({ device }) => device));
      const room = network === null || this.#perNetwork === 0 ? -1 : this.#perNetwork - this.#added(day, network);
      if (room === 0) continue;
      const insert = `INSERT INTO devices SELECT ?1, value FROM json_each(?2)
        WHERE value NOT IN (SELECT device FROM devices WHERE day = ?1) LIMIT ?3 RETURNING device`;
      const added = this.#sql.exec(insert, day, devices, room).toArray().length;
      if (network === null || added === 0) continue;
      const count = "INSERT INTO device_networks VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET devices = devices + excluded.devices";
      this.#sql.exec(count, day, network, added);
    }
  }

  /** The number of devices today. */
  count(now: number): number {
    return this.#sql.exec<{ devices: number }>("SELECT count(*) AS devices FROM devices WHERE day = ?", dayOf(now)).one().devices;
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM devices WHERE day < ?", dayOf(now) - 1);
    this.#sql.exec("DELETE FROM device_networks WHERE day < ?", dayOf(now) - 1);
  }

  #added(day: number, network: string): number {
    const select = "SELECT devices FROM device_networks WHERE day = ? AND network = ?";
    return Math.min(this.#perNetwork, this.#sql.exec<{ devices: number }>(select, day, network).toArray()[0]?.devices ?? 0);
  }
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}
