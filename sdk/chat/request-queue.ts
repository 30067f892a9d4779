import type { ChatReact, ChatResult, ChatSend } from "./wire.ts";

type Request = ChatSend | ChatReact;

/** Sends frames as requests where the connection can't send them: one at a time, so that their order stays. */
export class RequestQueue {
  readonly #waiting = new Map<string, Request>();
  readonly #perform: (frame: Request) => Promise<ChatResult>;
  readonly #onResult: (result: ChatResult) => void;
  #isRunning = false;

  constructor(perform: (frame: Request) => Promise<ChatResult>, onResult: (result: ChatResult) => void) {
    this.#perform = perform;
    this.#onResult = onResult;
  }

  /** One with a known id is already on its way. */
  add(frame: Request): void {
    if (this.#waiting.has(frame.id)) return;
    this.#waiting.set(frame.id, frame);
    void this.#run();
  }

  /** Those that haven't been sent yet never will be. */
  clear(): void {
    this.#waiting.clear();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (const [id, frame] of this.#waiting) {
      const result = await this.#perform(frame);
      this.#waiting.delete(id);
      this.#onResult(result);
    }
    this.#isRunning = false;
  }
}
