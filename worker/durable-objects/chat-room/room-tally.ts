import { logError } from "#worker/lib/log.ts";
import { countMessages } from "#worker/services/insights/message-counts.ts";

/** Time between two writes. */
const WRITE_MS = 60_000;

/** Adds a room's messages to its channel's figures. */
export class RoomTally {
  readonly #env: Env;
  readonly #room: { siteId: string; channelId: string };
  #written: number | undefined;
  #writeAt = 0;

  constructor(env: Env, room: { siteId: string; channelId: string }) {
    this.#env = env;
    this.#room = room;
  }

  /** Writes how many messages the room has had, unless it did so a moment ago. Returns when to call again, ms. Never throws. */
  async count(total: number): Promise<number> {
    if (total === (this.#written ?? 0)) return Infinity;
    const now = Date.now();
    if (now < this.#writeAt) return this.#writeAt;
    this.#writeAt = now + WRITE_MS;
    try {
      await countMessages(this.#env, this.#room, total, now);
    } catch (error) {
      logError("chat_tally_failed", error, this.#room);
      return this.#writeAt;
    }
    this.#written = total;
    return Infinity;
  }
}
