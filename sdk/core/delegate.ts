import type { TifoEventDelegate, TrackedAction } from "../model/event-delegate.ts";

/** Asks the host app, and never falls over its answer: what throws is reported and counts as absent. */
export class Delegate {
  readonly #host: TifoEventDelegate;

  constructor(host: TifoEventDelegate | undefined) {
    this.#host = host ?? {};
  }

  has(method: keyof TifoEventDelegate): boolean {
    return this.#host[method] !== undefined;
  }

  /** Tells the host app. */
  tell(call: (host: TifoEventDelegate) => void | Promise<void>): void {
    void this.ask(async (host) => call(host), undefined);
  }

  /** Tells the host app's analytics what the viewer did, with its own id of them where it has one. */
  track(name: string, properties: TrackedAction["properties"]): void {
    if (!this.has("trackAction")) return;
    void this.ask((host) => host.getUserSWID?.(), null).then((swid) =>
      this.tell((host) => host.trackAction?.({ name, properties: swid === null ? properties : { ...properties, swid } })),
    );
  }

  /** The host app's answer, or `fallback` where it has none. */
  async ask<T>(call: (host: TifoEventDelegate) => T | undefined | Promise<T | undefined>, fallback: T): Promise<T> {
    try {
      return (await call(this.#host)) ?? fallback;
    } catch (error) {
      console.error("Tifo: a method of the event delegate failed", error);
      return fallback;
    }
  }

  /** Null: anonymous. */
  token(): Promise<string | null> {
    return this.ask((host) => host.getUserToken?.(), null);
  }

  async isAuthenticated(): Promise<boolean> {
    if (!this.#host.userIsAuthenticated) return (await this.token()) !== null;
    return this.ask((host) => host.userIsAuthenticated?.(), false);
  }
}
