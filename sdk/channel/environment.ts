/** The part of WebSocket that the client needs; the browser's own and that of Node fit. */
export interface SocketLike {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number }) => void): void;
}

/** The part of EventSource that the client needs. */
export interface EventSourceLike {
  close(): void;
  addEventListener(type: "message" | "pong", listener: (event: { data: unknown }) => void): void;
  /** Network failures carry no data; a refusal by the server carries its `error` frame. */
  addEventListener(type: "error", listener: (event: { data?: unknown }) => void): void;
}

export type Timer = ReturnType<typeof setTimeout>;

/** What the client takes from around it; tests give their own clock, sockets and dice. */
export interface Environment {
  openSocket(url: string): SocketLike;
  /** Null: the platform has no Server-Sent Events. */
  openEvents(url: string): EventSourceLike | null;
  now(): number;
  random(): number;
  setTimer(work: () => void, milliseconds: number): Timer;
  clearTimer(timer: Timer | undefined): void;
  /** Calls back when the network came back or the page is looked at again; returns the function that ends this. */
  onWake(listener: () => void): () => void;
  /** Calls back when the page is hidden; returns the function that ends this. */
  onHide(listener: () => void): () => void;
  /** True while nobody can see the page. */
  hidden(): boolean;
  /** False only where the platform knows that there is no network. */
  online(): boolean;
}

export const browserEnvironment: Environment = {
  openSocket: (url) => new WebSocket(url),
  openEvents: (url) => (typeof EventSource === "undefined" ? null : new EventSource(url)),
  now: () => Date.now(),
  random: () => Math.random(),
  setTimer: (work, milliseconds) => setTimeout(work, milliseconds),
  clearTimer: (timer) => clearTimeout(timer),
  onWake(listener) {
    if (typeof addEventListener === "undefined" || typeof document === "undefined") return () => {};
    const seen = () => document.visibilityState === "visible" && listener();
    addEventListener("online", listener);
    document.addEventListener("visibilitychange", seen);
    return () => {
      removeEventListener("online", listener);
      document.removeEventListener("visibilitychange", seen);
    };
  },
  onHide(listener) {
    if (typeof document === "undefined") return () => {};
    const changed = () => isHidden() && listener();
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  },
  hidden: isHidden,
  online: () => typeof navigator === "undefined" || navigator.onLine !== false,
};

function isHidden(): boolean {
  return typeof document !== "undefined" && document.visibilityState === "hidden";
}
