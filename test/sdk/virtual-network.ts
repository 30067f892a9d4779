import type { Environment, EventSourceLike, SocketLike } from "#sdk/channel/index.ts";

/** A seeded random number generator (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Due {
  at: number;
  order: number;
  work: () => void;
}

/** A clock that advances only on request. */
export class VirtualTime {
  now = 1_800_000_000_000;
  #order = 0;
  readonly #due = new Map<number, Due>();

  after(delay: number, work: () => void): number {
    const order = ++this.#order;
    this.#due.set(order, { at: this.now + Math.max(0, delay), order, work });
    return order;
  }

  cancel(order: number): void {
    this.#due.delete(order);
  }

  /** Advances by `span` ms and runs everything that becomes due, in order. */
  async advance(span: number): Promise<void> {
    const until = this.now + span;
    for (;;) {
      await settled();
      const next = this.#next(until);
      if (!next) break;
      this.#due.delete(next.order);
      this.now = Math.max(this.now, next.at);
      next.work();
    }
    this.now = until;
  }

  #next(until: number): Due | undefined {
    let first: Due | undefined;
    for (const due of this.#due.values()) {
      if (due.at <= until && (!first || due.at < first.at || (due.at === first.at && due.order < first.order))) first = due;
    }
    return first;
  }
}

/** Lets promises settle that wait only for each other. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await Promise.resolve();
}

/** The server's end of a connection. */
export interface Wire {
  readonly url: URL;
  readonly kind: "socket" | "events";
  /** Sends to the viewer, after the network's delay and in order. */
  deliver(text: string): void;
  /** Breaks the connection; both ends are notified. */
  cut(code?: number): void;
}

export interface FakeServer {
  /** Null if the server doesn't respond. */
  connect(wire: Wire): { receive(text: string): void; gone(): void } | null;
}

/** Connects clients with the server: delays, and an environment for each client. */
export class Network {
  readonly time: VirtualTime;
  readonly random: () => number;
  /** Whether this network lets WebSockets through. */
  allowsSockets = true;
  readonly #server: FakeServer;
  readonly #wakers = new Set<() => void>();

  constructor(time: VirtualTime, random: () => number, server: FakeServer) {
    this.time = time;
    this.random = random;
    this.#server = server;
  }

  environment(): Partial<Environment> {
    const timers = new Map<ReturnType<typeof setTimeout>, number>();
    return {
      now: () => this.time.now,
      random: this.random,
      // Each virtual timer needs a real handle, which never fires.
      setTimer: (work, delay) => {
        const handle = setTimeout(() => {}, 0);
        clearTimeout(handle);
        timers.set(handle, this.time.after(delay, work));
        return handle;
      },
      clearTimer: (handle) => {
        if (handle !== undefined) this.time.cancel(timers.get(handle) ?? -1);
      },
      openSocket: (url) => this.#socket(new URL(url)),
      openEvents: (url) => this.#events(new URL(url)),
      onWake: (listener) => {
        this.#wakers.add(listener);
        return () => this.#wakers.delete(listener);
      },
      online: () => true,
    };
  }

  /** Wakes every device from sleep. */
  wake(): void {
    for (const waker of this.#wakers) waker();
  }

  #delay(): number {
    return 5 + this.random() * 60;
  }

  #socket(url: URL): SocketLike {
    const listeners = new Listeners();
    let state = 0;
    let readyAt = 0;
    let remote: ReturnType<FakeServer["connect"]> = null;
    const inOrder = (work: () => void) => {
      readyAt = Math.max(readyAt, this.time.now + this.#delay());
      this.time.after(readyAt - this.time.now, work);
    };
    const close = (code: number) => {
      if (state === 3) return;
      state = 3;
      listeners.emit("close", { code });
    };
    const wire: Wire = {
      url,
      kind: "socket",
      deliver: (text) => inOrder(() => state === 1 && listeners.emit("message", { data: text })),
      cut: (code = 1006) => inOrder(() => close(code)),
    };
    inOrder(() => {
      if (state !== 0) return;
      remote = this.allowsSockets ? this.#server.connect(wire) : null;
      if (!remote) return close(1006);
      state = 1;
      listeners.emit("open", {});
    });
    return {
      get readyState() {
        return state;
      },
      send: (text) => this.time.after(this.#delay(), () => remote?.receive(text)),
      close: () => {
        state = 3;
        this.time.after(this.#delay(), () => remote?.gone());
      },
      addEventListener: listeners.add,
    };
  }

  #events(url: URL): EventSourceLike {
    const listeners = new Listeners();
    let open = true;
    let readyAt = 0;
    let remote: ReturnType<FakeServer["connect"]> = null;
    const inOrder = (work: () => void) => {
      readyAt = Math.max(readyAt, this.time.now + this.#delay());
      this.time.after(readyAt - this.time.now, () => open && work());
    };
    const wire: Wire = {
      url,
      kind: "events",
      deliver: (text) => inOrder(() => listeners.emit(text === "pong" ? "pong" : "message", { data: text })),
      cut: () => inOrder(() => listeners.emit("error", {})),
    };
    inOrder(() => {
      remote = this.#server.connect(wire);
      if (!remote) listeners.emit("error", {});
    });
    return {
      close: () => {
        open = false;
        this.time.after(this.#delay(), () => remote?.gone());
      },
      addEventListener: listeners.add,
    };
  }
}

class Listeners {
  readonly #byType = new Map<string, ((event: never) => void)[]>();

  readonly add = (type: string, listener: (event: never) => void): void => {
    this.#byType.set(type, [...(this.#byType.get(type) ?? []), listener]);
  };

  emit(type: string, event: object): void {
    for (const listener of this.#byType.get(type) ?? []) Reflect.apply(listener, undefined, [event]);
  }
}
