import {
  browserEnvironment,
  type ChannelConnection,
  joinChannel,
  syncToMediaTime,
  type Position,
  type ServerFrame,
} from "#sdk/channel/index.ts";

// Runs in Node from the SDK's sources, and in Chromium from its package.

export const SITE = "5eed00000000000000000001";
export const CHANNEL = "5eed0000000000000000c001";
const HOUR_MS = 3_600_000;
const JUMPING_SHARE = 0.2;

/** What a client received. */
export interface ClientRecord {
  name: string;
  /** Position of its first welcome; it doesn't receive earlier frames. */
  from: number;
  /** Whether a reconnect ever failed to resume. */
  startedOver: boolean;
  welcomes: number;
  /** Every frame of the log, in order of arrival. */
  frames: readonly string[];
}

/** Clients of one channel. */
export class Crowd {
  readonly #clients: readonly Client[];

  constructor(origin: string, count: number) {
    this.#clients = Array.from({ length: count }, (_, index) => new Client(origin, `chaos-${index}`));
  }

  /** Waits until every client has this position. */
  async waitForSeq(seq: number): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.waitForSeq(seq)));
  }

  /** Sets the clocks of some clients up to an hour wrong. */
  jumpClocks(): void {
    for (const client of this.#clients) if (Math.random() < JUMPING_SHARE) client.jumpClock();
  }

  records(): ClientRecord[] {
    return this.#clients.map((client) => client.record());
  }

  leave(): void {
    for (const client of this.#clients) client.leave();
  }
}

/** A viewer as in the SDK: a channel whose frames are synced to the media time. */
export class Client {
  readonly #name: string;
  #epoch = "";
  #from: number | undefined;
  #startedOver = false;
  #welcomes = 0;
  #clockOffset = 0;
  readonly #frames: string[] = [];
  readonly #connection: ChannelConnection;
  #waiting: { seq: number; done: () => void }[] = [];

  constructor(origin: string, name: string, resume?: Position) {
    this.#name = name;
    const now = () => Date.now() + this.#clockOffset;
    const sync = syncToMediaTime({ ...browserEnvironment, now }, (frame) => this.#receive(frame));
    this.#connection = joinChannel({
      origin,
      clientId: SITE,
      channelId: CHANNEL,
      deviceId: name,
      ...(resume && { resume }),
      environment: { now, openEvents: () => null },
      onFrame: (frame) => sync.accept(frame),
    });
  }

  get epoch(): string {
    return this.#epoch;
  }

  async waitForSeq(seq: number): Promise<void> {
    if (this.#seq >= seq) return;
    await new Promise<void>((done) => this.#waiting.push({ seq, done }));
  }

  jumpClock(): void {
    this.#clockOffset = (Math.random() * 2 - 1) * HOUR_MS;
  }

  record(): ClientRecord {
    return {
      name: this.#name,
      from: this.#from ?? 0,
      startedOver: this.#startedOver,
      welcomes: this.#welcomes,
      frames: this.#frames,
    };
  }

  leave(): void {
    this.#connection.leave();
  }

  get #seq(): number {
    return this.#from === undefined ? -1 : (this.#connection.position()?.seq ?? -1);
  }

  #receive(frame: ServerFrame): void {
    if (frame.type === "welcome") {
      this.#welcomes++;
      this.#epoch = frame.epoch;
      this.#startedOver ||= this.#from !== undefined && !frame.recovered;
      this.#from ??= frame.upTo;
    } else if ("seq" in frame) this.#frames.push(`${frame.seq} ${frame.type} ${"broadcastId" in frame ? frame.broadcastId : ""}`);
    // The position advances after this handler.
    queueMicrotask(() => {
      this.#waiting = this.#waiting.filter(({ seq, done }) => (this.#seq >= seq ? done() : true));
    });
  }
}
