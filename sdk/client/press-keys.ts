import { isAnswer } from "./problem.ts";

/** How long a press without an answer is remembered, ms: later, the same press is meant as a new one. */
const REMEMBERED_MS = 60_000;

/** `isRepeated`: the same was sent before, with this key, and not answered. */
interface PressKey {
  key: string;
  isRepeated: boolean;
}

/** The Idempotency-Keys of presses: pressing again what was never answered does it once. */
export class PressKeys {
  readonly #unanswered = new Map<string, { key: string; until: number }>();

  /** A new key, unless the same was sent within the last minute and not answered. */
  keyOf(sent: string, now = Date.now()): PressKey {
    const before = this.#unanswered.get(sent);
    if (before && now < before.until) return { key: before.key, isRepeated: true };
    const key = crypto.randomUUID();
    this.#unanswered.set(sent, { key, until: now + REMEMBERED_MS });
    return { key, isRepeated: false };
  }

  /** Forgets the key of what has ended, unless nobody knows how. */
  ended(sent: string, error?: unknown): void {
    if (error === undefined || isAnswer(error)) this.#unanswered.delete(sent);
  }

  /** Sends with the key of this press. */
  async once<T>(sent: string, send: (press: PressKey) => Promise<T>): Promise<T> {
    try {
      const answer = await send(this.keyOf(sent));
      this.ended(sent);
      return answer;
    } catch (error) {
      this.ended(sent, error);
      throw error;
    }
  }
}
