import { firstSuccess, settlesWithin } from "#worker/lib/time/with-timeout.ts";

/** After this, a read may have died with the request that sent it, although it was to be kept alive: it is sent again. */
const WAIT_MS = 5_000;

interface Sent<T> {
  running: Promise<T>;
  /** ms; the next one doesn't wait longer for it. */
  until: number;
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
    const shared = sent.next;
    if (await settlesWithin(shared, WAIT_MS)) return shared;
    if (this.#sent.get(key) === sent) this.#sent.delete(key);
    return firstSuccess([shared], this.read(key, load, defer));
  }

  async #after(sent: Sent<T>, key: string, load: () => Promise<T>, defer: (work: Promise<unknown>) => void): Promise<T> {
    await settlesWithin(sent.running, sent.until - Date.now());
    return this.#start(key, load, defer);
  }

  #start(key: string, load: () => Promise<T>, defer: (work: Promise<unknown>) => void): Promise<T> {
    const running = load();
    const sent: Sent<T> = { running, until: Date.now() + WAIT_MS, next: undefined };
    this.#sent.set(key, sent);
    const forget = (): void => {
      if (sent.next === undefined && this.#sent.get(key) === sent) this.#sent.delete(key);
    };
    defer(running.then(forget, forget));
    return running;
  }
}
