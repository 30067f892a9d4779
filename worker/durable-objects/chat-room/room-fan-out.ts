import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { ChatBatch, ChatDelivered, Person, RoomPosition } from "./chat-room.protocol.ts";

/** A relay receives at most one batch within this time. */
export const BATCH_MS = 250;
/** What is left between two batches, however long one takes: the relay's sockets have other frames to receive. */
const REST_MS = 50;
/** A busy relay takes its time, and delays only its own viewers; one that has failed responds at once. */
const DELIVER_TIMEOUT_MS = 10_000;
const RETRY_AT_MOST_MS = 8_000;

/** The part of the room that the fan-out reads. */
export interface RoomSource {
  /** What follows a position. */
  batchAfter(from: RoomPosition): Pick<ChatBatch, "messages" | "updates" | "upTo">;
  position(): RoomPosition;
  settingsVersion(): number;
  settings(): NonNullable<ChatBatch["settings"]>;
}

export interface RelayCalls {
  /** `alone`: the relay was slow before, and must not delay others that receive the same batch. */
  deliver(relay: number, batch: ChatBatch, alone: boolean): Promise<ChatDelivered>;
  /** The position that the relay's joined sockets have reached; null if it has none. */
  ask(relay: number): Promise<RoomPosition | null>;
  /** Stores which relays listen. */
  save(relays: number[]): void;
}

/** One relay with joined sockets. */
interface Lane {
  relay: number;
  /** Null after a restart or a failure: the relay is asked. */
  position: RoomPosition | null;
  /** The room's position at the last join; another join while a response is on its way keeps the lane open from there. */
  joinedAt: RoomPosition | null;
  languages: string[];
  /** The version of the settings that it has. */
  settings: number;
  people: Map<string, Person>;
  startedAt: number;
  endedAt: number;
  failures: number;
  timer: ReturnType<typeof setTimeout> | null;
  isRunning: boolean;
}

/** Sends the room's batches to the relays: in order, without gaps, one in flight per relay, and none waits for another. */
export class RoomFanOut {
  readonly #source: RoomSource;
  readonly #calls: RelayCalls;
  readonly #lanes = new Map<number, Lane>();
  #last: { key: string; batch: ChatBatch } | undefined;

  constructor(source: RoomSource, relays: number[], calls: RelayCalls) {
    this.#source = source;
    this.#calls = calls;
    for (const relay of relays) this.#lanes.set(relay, newLane(relay, null, -1));
  }

  /** Adds a relay from the room's current position on; one that listens already goes on from its own. */
  join(relay: number, language: string | null): void {
    let lane = this.#lanes.get(relay);
    if (!lane) {
      lane = newLane(relay, this.#source.position(), this.#source.settingsVersion());
      this.#lanes.set(relay, lane);
      this.#save();
    }
    lane.joinedAt = this.#source.position();
    if (language !== null && !lane.languages.includes(language)) lane.languages.push(language);
  }

  /** The languages of the viewers. */
  get languages(): Set<string> {
    return new Set([...this.#lanes.values()].flatMap(({ languages }) => languages));
  }

  get isCaughtUp(): boolean {
    return [...this.#lanes.values()].every((lane) => this.#isCaughtUp(lane));
  }

  /** Sends what is new, soon. */
  notify(people: Person[] = []): void {
    for (const lane of this.#lanes.values()) {
      for (const person of people) lane.people.set(person.accountId, person);
      this.#schedule(lane);
    }
  }

  /** Stops all sending. */
  close(): void {
    for (const { timer } of this.#lanes.values()) if (timer !== null) clearTimeout(timer);
    this.#lanes.clear();
  }

  #schedule(lane: Lane): void {
    if (lane.timer !== null || lane.isRunning || this.#isCaughtUp(lane)) return;
    const pause = Math.min(RETRY_AT_MOST_MS, BATCH_MS * 2 ** lane.failures);
    const at = Math.max(lane.startedAt + pause, lane.endedAt + REST_MS);
    lane.timer = setTimeout(() => void this.#run(lane), Math.max(0, at - Date.now()));
  }

  async #run(lane: Lane): Promise<void> {
    lane.timer = null;
    lane.isRunning = true;
    lane.startedAt = Date.now();
    try {
      await this.#step(lane);
      lane.failures = 0;
    } catch (error) {
      logError("chat_push_failed", error, { relay: lane.relay });
      lane.position = null;
      lane.failures++;
    } finally {
      lane.isRunning = false;
      lane.endedAt = Date.now();
    }
    if (this.#lanes.get(lane.relay) === lane) this.#schedule(lane);
  }

  async #step(lane: Lane): Promise<void> {
    const { joinedAt } = lane;
    const from = lane.position ?? (await withTimeout(this.#calls.ask(lane.relay), DELIVER_TIMEOUT_MS));
    if (!from) return this.#close(lane, joinedAt);
    const settings = this.#source.settingsVersion();
    const people = [...lane.people.values()];
    const shared = this.#batchAfter(from);
    const isShared = lane.settings === settings && people.length === 0;
    const batch = isShared ? shared : { ...shared, settings: lane.settings === settings ? null : this.#source.settings(), people };
    const delivered = await withTimeout(this.#calls.deliver(lane.relay, batch, lane.failures > 0), DELIVER_TIMEOUT_MS);
    if (!delivered.position) return this.#close(lane, joinedAt);
    lane.position = delivered.position;
    lane.languages = delivered.languages;
    lane.settings = settings;
    for (const person of people) if (lane.people.get(person.accountId) === person) lane.people.delete(person.accountId);
  }

  /** What follows a position: one batch for all relays at it. */
  #batchAfter(from: RoomPosition): ChatBatch {
    const position = this.#source.position();
    const key = JSON.stringify([from, position]);
    if (this.#last?.key !== key) this.#last = { key, batch: { from, ...this.#source.batchAfter(from), settings: null, people: [] } };
    return this.#last.batch;
  }

  #isCaughtUp({ position, settings, people }: Lane): boolean {
    if (!position || settings !== this.#source.settingsVersion() || people.size > 0) return false;
    const head = this.#source.position();
    return position.chatSeq >= head.chatSeq && position.stored >= head.stored && position.revision >= head.revision;
  }

  #close(lane: Lane, joinedAt: RoomPosition | null): void {
    if (lane.joinedAt !== joinedAt) lane.position = lane.joinedAt;
    else if (this.#lanes.delete(lane.relay)) this.#save();
  }

  #save(): void {
    this.#calls.save([...this.#lanes.keys()]);
  }
}

function newLane(relay: number, position: RoomPosition | null, settings: number): Lane {
  return {
    relay,
    position,
    joinedAt: null,
    languages: [],
    settings,
    people: new Map(),
    startedAt: 0,
    endedAt: 0,
    failures: 0,
    timer: null,
    isRunning: false,
  };
}
