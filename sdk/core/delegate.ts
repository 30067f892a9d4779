import type { TifoEventDelegate, TrackedAction } from "../model/event-delegate.ts";

/** Calls the host app's methods. If one throws, the error is logged and the default applies. */
export class Delegate {
  readonly #host: TifoEventDelegate;

  constructor(host: TifoEventDelegate | undefined) {
    this.#host = host ?? {};
  }

  has(method: keyof TifoEventDelegate): boolean {
    return this.#host[method] !== undefined;
  }

  /** Calls a method without a result. */
  notify(method: (host: TifoEventDelegate) => void | Promise<void>): void {
    void this.call(async (host) => method(host), undefined);
  }

  /** Reports an action to the host app's analytics, with the host app's id of the viewer if it has one. */
  track(name: string, properties: TrackedAction["properties"]): void {
    if (!this.has("trackAction")) return;
    void this.call((host) => host.getUserSWID?.(), null).then((swid) =>
      this.notify((host) => host.trackAction?.({ name, properties: swid === null ? properties : { ...properties, swid } })),
    );
  }

  /** The result of a method, or `fallback` if it has none. */
  async call<T>(method: (host: TifoEventDelegate) => T | undefined | Promise<T | undefined>, fallback: T): Promise<T> {
    try {
      return (await method(this.#host)) ?? fallback;
    } catch (error) {
      console.error("Tifo: a method of the event delegate failed", error);
      return fallback;
    }
  }

  /** Null: anonymous. */
  token(): Promise<string | null> {
    return this.call((host) => host.getUserToken?.(), null);
  }

  async isAuthenticated(): Promise<boolean> {
    if (!this.#host.userIsAuthenticated) return (await this.token()) !== null;
    return this.call((host) => host.userIsAuthenticated?.(), false);
  }
}
