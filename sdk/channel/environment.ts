/** The subset of WebSocket that the client needs; those of browsers and Node match it. */
export interface SocketLike {
  readonly readyState: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number }) => void): void;
}

/** The subset of EventSource that the client needs. */
export interface EventSourceLike {
  close(): void;
  addEventListener(type: "message" | "pong", listener: (event: { data: unknown }) => void): void;
  /** A network failure has no data; a rejection by the server contains its `error` frame. */
  addEventListener(type: "error", listener: (event: { data?: unknown }) => void): void;
}

export type Timer = ReturnType<typeof setTimeout>;

/** The platform that the client runs on; tests pass their own clock, sockets and random numbers. */
export interface Environment {
  openSocket(url: string): SocketLike;
  /** Null if the platform has no Server-Sent Events. */
  openEvents(url: string): EventSourceLike | null;
  now(): number;
  random(): number;
  setTimer(work: () => void, milliseconds: number): Timer;
  clearTimer(timer: Timer | undefined): void;
  /** Calls the listener when the network returns or the page becomes visible, and returns a function that removes it. */
  onWake(listener: () => void): () => void;
  /** Calls the listener when the page is hidden, and returns a function that removes it. */
  onHide(listener: () => void): () => void;
  /** Calls the listener when the viewer leaves the page or hides it, and returns a function that removes it. */
  onLeave(listener: () => void): () => void;
  /** Sends a text that survives the page, without a response. Returns false if it wasn't accepted. */
  sendBeacon(url: string, text: string): boolean;
  /** Whether the browser asks sites not to track the viewer (Global Privacy Control, Do Not Track). */
  refusesTracking(): boolean;
  /** Whether the page is hidden. */
  hidden(): boolean;
  /** False only if the platform knows that there is no network. */
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
    const onVisibilityChange = () => document.visibilityState === "visible" && listener();
    addEventListener("online", listener);
    document.addEventListener("visibilitychange", onVisibilityChange);
    return () => {
      removeEventListener("online", listener);
      document.removeEventListener("visibilitychange", onVisibilityChange);
    };
  },
  onHide(listener) {
    if (typeof document === "undefined") return () => {};
    const changed = () => isHidden() && listener();
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  },
  onLeave(listener) {
    if (typeof addEventListener === "undefined" || typeof document === "undefined") return () => {};
    const changed = () => isHidden() && listener();
    document.addEventListener("visibilitychange", changed);
    addEventListener("pagehide", listener);
    return () => {
      document.removeEventListener("visibilitychange", changed);
      removeEventListener("pagehide", listener);
    };
  },
  sendBeacon(url, text) {
    // As text, because JSON to another origin would need a preflight.
    return typeof navigator !== "undefined" && "sendBeacon" in navigator && navigator.sendBeacon(url, text);
  },
  refusesTracking() {
    if (typeof navigator === "undefined") return false;
    const { doNotTrack, globalPrivacyControl }: { doNotTrack?: string | null; globalPrivacyControl?: boolean } = navigator;
    return globalPrivacyControl === true || doNotTrack === "1" || doNotTrack === "yes";
  },
  hidden: isHidden,
  online: () => typeof navigator === "undefined" || navigator.onLine !== false,
};

function isHidden(): boolean {
  return typeof document !== "undefined" && document.visibilityState === "hidden";
}
