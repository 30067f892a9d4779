import type { ChatError, SendOutcome, SendRequest } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";

/** At most one call to the room within this time, ms: the first message goes at once, and those that follow it go together. */
export const CALL_EVERY_MS = 25;

type Outcome = SendOutcome | ChatError;

export interface SendCalls {
  /** Sends messages to the room; one outcome each, in the same order. */
  send(requests: SendRequest[]): Promise<Outcome[]>;
  wait(ms: number): Promise<void>;
}

/** Takes the messages of a relay's viewers to the room, many in one call when many are written. */
export class ChatSends {
  readonly #calls: SendCalls;
  #waiting: { request: SendRequest; outcome: PromiseWithResolvers<Outcome> }[] = [];
  #isPaused = false;

  constructor(calls: SendCalls) {
    this.#calls = calls;
  }

  /** Rejects if the call fails; the message may then have been stored or not. */
  send(request: SendRequest): Promise<Outcome> {
    const outcome = Promise.withResolvers<Outcome>();
    this.#waiting.push({ request, outcome });
    if (!this.#isPaused) void this.#run();
    return outcome.promise;
  }

  async #run(): Promise<void> {
    this.#isPaused = true;
    while (this.#waiting.length > 0) {
      void this.#call(this.#waiting.splice(0));
      await this.#calls.wait(CALL_EVERY_MS);
    }
    this.#isPaused = false;
  }

  async #call(batch: { request: SendRequest; outcome: PromiseWithResolvers<Outcome> }[]): Promise<void> {
    try {
      const outcomes = await this.#calls.send(batch.map(({ request }) => request));
      batch.forEach(({ outcome }, index) => {
        const result = outcomes[index];
        if (result) outcome.resolve(result);
        else outcome.reject(new Error("The room answered for fewer messages than it was sent"));
      });
    } catch (error) {
      for (const { outcome } of batch) outcome.reject(error);
    }
  }
}
