/**
 * Sockets that are sent to in one turn. Between turns the relay forwards the channel's own frames, so none waits for more than this, which
 * takes about ten milliseconds. Smaller slices make a batch take long on a busy machine, because each turn ends with a wait.
 */
export const SLICE = 512;
/** How long the chat waits after an overlay, ms: about what the platform takes to write one to all sockets of a relay. */
export const OVERLAY_MS = 50;

export interface OutboxCalls<Socket> {
  send(socket: Socket, text: string): void;
  wait(ms: number): Promise<void>;
}

/** Frames for some sockets. `textsFor` is called when it is a socket's turn, so that it uses the viewer's rights at that moment. */
interface Job<Socket> {
  sockets: readonly Socket[];
  textsFor: (socket: Socket) => readonly string[];
  next: number;
  isSent: () => void;
}

/** Sends the chat's frames to a relay's sockets, a slice at a time and after the overlays, so that no overlay waits for the chat. */
export class ChatOutbox<Socket> {
  readonly #calls: OutboxCalls<Socket>;
  readonly #jobs: Job<Socket>[] = [];
  #isRunning = false;
  #overlayAt = -Infinity;

  constructor(calls: OutboxCalls<Socket>) {
    this.#calls = calls;
  }

  /** Sends the first slice at once, and resolves when all are sent. Later calls wait for earlier ones. */
  send(sockets: readonly Socket[], textsFor: Job<Socket>["textsFor"]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#jobs.push({ sockets, textsFor, next: 0, isSent: resolve });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Makes way for the overlay that was just sent. At most half of the time, so that many overlays don't silence the chat. */
  yieldToOverlay(now: number): void {
    if (now - this.#overlayAt >= 2 * OVERLAY_MS) this.#overlayAt = now;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let job = this.#jobs[0]; job; job = this.#jobs[0]) {
      const pause = this.#overlayAt + OVERLAY_MS - Date.now();
      if (pause > 0) await this.#calls.wait(pause);
      this.#sendSlice(job);
      if (job.next >= job.sockets.length) {
        this.#jobs.shift();
        job.isSent();
      }
      if (this.#jobs.length > 0) await this.#calls.wait(0);
    }
    this.#isRunning = false;
  }

  #sendSlice(job: Job<Socket>): void {
    const slice = job.sockets.slice(job.next, job.next + SLICE);
    job.next += slice.length;
    for (const socket of slice) for (const text of job.textsFor(socket)) this.#calls.send(socket, text);
  }
}
