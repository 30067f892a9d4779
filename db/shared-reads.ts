import { isTimeout, withTimeout } from "#worker/lib/time/with-timeout.ts";

/** After this, the request that sends a read is taken for dead, although its read is kept alive. */
const WAIT_MS = 5_000;

interface Sent<T> {
  running: Promise<T>;
  /** For requests that arrive while it runs. */
  next: Promise<T> | undefined;
}

/**
 * Reads that several requests of an isolate send at the same time. Only one runs at a time: those that arrive meanwhile share the next one,
 * which begins afterwards, so that each sees what was written before it arrived. The slower the database, the more requests share a read.
 */
export class SharedReads<T> {
  readonly #sent = new Map<string, Sent<T>>();

  /** `defer` lets the read finish for the others if this request ends early. */
  async read(key: string, load: () => Promise<T>, defer: (work: Promise<unknown>) => void): Promise<T> {
    const sent = this.#sent.get(key);
    if (!sent) return this.#start(key, load, defer);
    const isFirst = sent.next === undefined;
    sent.next ??= this.#after(sent, key, load, defer);
    // The first one sends it.
    if (isFirst) {
      defer(sent.next.catch(() => undefined));
      return sent.next;
    }
    try {
      return await withTimeout(sent.next, WAIT_MS);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      if (this.#sent.get(key) === sent) this.#sent.delete(key);
      return load();
    }
  }

  async #after(sent: Sent<T>, key: string, load: () => Promise<T>, defer: (work: Promise<unknown>) => void): Promise<T> {
    // How it ends is of no interest here.
    await withTimeout(sent.running, WAIT_MS).catch(() => undefined);
    return this.#start(key, load, defer);
  }

  #start(key: string, load: () => Promise<T>, defer: (work: Promise<unknown>) => void): Promise<T> {
    const running = load();
    const sent: Sent<T> = { running, next: undefined };
    this.#sent.set(key, sent);
    const forget = (): void => {
      if (sent.next === undefined && this.#sent.get(key) === sent) this.#sent.delete(key);
    };
    defer(running.then(forget, forget));
    return running;
  }
}
