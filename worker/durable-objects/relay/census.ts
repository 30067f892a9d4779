import { bloomOf } from "#worker/lib/bloom.ts";
import type { Census, PresenceReport } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { RelaySockets } from "./sockets.ts";

const FLUSH_MS = 500;

/** Reports a relay's viewers to the site: soon after a change, and once per heartbeat. */
export class RelayCensus {
  readonly #place: { channelId: string; relay: number };
  readonly #sockets: RelaySockets;
  readonly #heartbeatMs: number;
  readonly #send: (report: PresenceReport) => Promise<unknown>;
  #reportDue = 0;
  /** A viewer has connected or disconnected since the last report. */
  #hasChanged = false;
  /** Devices reported since the object woke, and on which day (UTC). */
  #reported = { day: "", devices: new Set<string>() };

  constructor(
    place: { channelId: string; relay: number },
    sockets: RelaySockets,
    heartbeatMs: number,
    send: (report: PresenceReport) => Promise<unknown>,
  ) {
    this.#place = place;
    this.#sockets = sockets;
    this.#heartbeatMs = heartbeatMs;
    this.#send = send;
  }

  /** When the next report is due, ms; Infinity if there are no viewers and the site knows it. */
  get due(): number {
    return this.#sockets.size > 0 || this.#hasChanged ? this.#reportDue : Infinity;
  }

  /** Call after a viewer connects or disconnects; returns when the report is due (ms). */
  markChanged(): number {
    const soon = Date.now() + FLUSH_MS;
    this.#reportDue = Math.min(this.#reportDue, soon);
    this.#hasChanged = true;
    return soon;
  }

  current(): Census {
    return { count: this.#sockets.size, accounts: bloomOf(this.#sockets.owners()) };
  }

  /** Reports if it is due. After a failure, calls `failed` with the time of the next attempt (ms). */
  async reportDueNow(now: number, failed: (error: unknown, retryAt: number) => Promise<void>): Promise<void> {
    if (this.#reportDue > now) return;
    this.#reportDue = now + this.#heartbeatMs;
    this.#hasChanged = false;
    try {
      await this.#report(now);
    } catch (error) {
      this.#reportDue = Date.now() + FLUSH_MS;
      this.#hasChanged = true;
      await failed(error, this.#reportDue);
    }
  }

  async #report(now: number): Promise<void> {
    const day = new Date(now).toISOString().slice(0, 10);
    if (this.#reported.day !== day) this.#reported = { day, devices: new Set() };
    const { devices: known } = this.#reported;
    const devices = this.#sockets.devices().filter(({ device }) => !known.has(device));
    await this.#send({ ...this.#place, ...this.current(), devices });
    for (const { device } of devices) known.add(device);
  }
}
