import type { Environment, EventSourceLike, SocketLike } from "#sdk/channel/index.ts";

/** A random number generator that gives the same numbers for the same seed (mulberry32). */
export function dice(seed: number): () => number {
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

/** Time that passes only when it is told to. */
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

  /** Lets `span` ms pass, with all that falls due on the way, in its order. */
  async pass(span: number): Promise<void> {
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

/** Lets promises that wait for nothing but each other come to their end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await Promise.resolve();
}

/** One end of a connection, as the fake server sees it. */
export interface Wire {
  readonly url: URL;
  readonly kind: "socket" | "events";
  /** To the viewer, after the network's delay and in order. */
  deliver(text: string): void;
  /** The connection breaks; both ends learn of it. */
  cut(code?: number): void;
}

export interface FakeServer {
  /** Null: nobody answers. */
  connect(wire: Wire): { receive(text: string): void; gone(): void } | null;
}

/** What joins clients and server: delays, and an environment for each client. */
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
      // A real handle that never fires names each virtual timer.
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

  /** Every device wakes from sleep. */
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
    let far: ReturnType<FakeServer["connect"]> = null;
    const inOrder = (work: () => void) => {
      readyAt = Math.max(readyAt, this.time.now + this.#delay());
      this.time.after(readyAt - this.time.now, work);
    };
    const close = (code: number) => {
      if (state === 3) return;
      state = 3;
      listeners.tell("close", { code });
    };
    const wire: Wire = {
      url,
      kind: "socket",
      deliver: (text) => inOrder(() => state === 1 && listeners.tell("message", { data: text })),
      cut: (code = 1006) => inOrder(() => close(code)),
    };
    inOrder(() => {
      if (state !== 0) return;
      far = this.allowsSockets ? this.#server.connect(wire) : null;
      if (!far) return close(1006);
      state = 1;
      listeners.tell("open", {});
    });
    return {
      get readyState() {
        return state;
      },
      send: (text) => this.time.after(this.#delay(), () => far?.receive(text)),
      close: () => {
        state = 3;
        this.time.after(this.#delay(), () => far?.gone());
      },
      addEventListener: listeners.add,
    };
  }

  #events(url: URL): EventSourceLike {
    const listeners = new Listeners();
    let open = true;
    let readyAt = 0;
    let far: ReturnType<FakeServer["connect"]> = null;
    const inOrder = (work: () => void) => {
      readyAt = Math.max(readyAt, this.time.now + this.#delay());
      this.time.after(readyAt - this.time.now, () => open && work());
    };
    const wire: Wire = {
      url,
      kind: "events",
      deliver: (text) => inOrder(() => listeners.tell(text === "pong" ? "pong" : "message", { data: text })),
      cut: () => inOrder(() => listeners.tell("error", {})),
    };
    inOrder(() => {
      far = this.#server.connect(wire);
      if (!far) listeners.tell("error", {});
    });
    return {
      close: () => {
        open = false;
        this.time.after(this.#delay(), () => far?.gone());
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

  tell(type: string, event: object): void {
    for (const listener of this.#byType.get(type) ?? []) Reflect.apply(listener, undefined, [event]);
  }
}
