import { type Histogram, merge, observe, quantile } from "#worker/lib/histogram.ts";

/** Percentiles are of this window and the one before it. */
const WINDOW_MS = 5 * 60_000;

/** How often an isolate reports its requests for the deployment's error rate. */
export const REPORT_MS = 5 * 60_000;

export interface RequestCounts {
  requests: number;
  errors: number;
}

/** What is counted of an operation, for as long as the isolate lives. */
interface Counts {
  method: string;
  route: string | null;
  requests: number;
  rejected: number;
  errors: number;
  current: Histogram;
  previous: Histogram;
}

export interface RouteFigures {
  method: string;
  /** Null for requests that match no operation. */
  route: string | null;
  requests: number;
  rejected: number;
  errors: number;
  p50: number | null;
  p99: number | null;
}

export interface IsolateFigures {
  /** Null before the first request has ended. */
  id: string | null;
  since: number | null;
  requests: number;
  errors: number;
  socketsOpened: number;
  /** By their 99th percentile, slowest first. */
  routes: RouteFigures[];
}

const UNMATCHED = {};

/** Counts the requests of one isolate by operation, in memory: no request waits for it. */
export class IsolateMetrics {
  readonly #operations = new Map<object, Counts>();
  #id: string | null = null;
  #since: number | null = null;
  #window = 0;
  #socketsOpened = 0;
  #unreported: RequestCounts = { requests: 0, errors: 0 };
  #reported: number | null = null;

  /** What was counted since the last report, if that is five minutes ago; undefined otherwise. */
  takeUnreported(now: number): RequestCounts | undefined {
    this.#reported ??= now;
    if (now - this.#reported < REPORT_MS) return undefined;
    const counts = this.#unreported;
    this.#unreported = { requests: 0, errors: 0 };
    this.#reported = now;
    return counts;
  }

  /** `failed`: the response means that something is broken, which not every status from 500 does. */
  record(
    operation: { path: string } | undefined,
    request: { method: string; status: number; failed: boolean; ms: number },
    now: number,
  ): void {
    if (this.#since === null) this.#begin(now);
    this.#rotate(now);
    const key = operation ?? UNMATCHED;
    let counts = this.#operations.get(key);
    if (!counts) {
      const name = operation ? { method: request.method, route: operation.path } : { method: "*", route: null };
      counts = { ...name, requests: 0, rejected: 0, errors: 0, current: new Map(), previous: new Map() };
      this.#operations.set(key, counts);
    }
    counts.requests++;
    this.#unreported.requests++;
    if (request.failed) this.#unreported.errors++;
    if (request.status >= 500) counts.errors++;
    else if (request.status >= 400) counts.rejected++;
    else if (request.status === 101) this.#socketsOpened++;
    observe(counts.current, request.ms);
  }

  figures(now: number): IsolateFigures {
    this.#rotate(now);
    const routes = [...this.#operations.values()].map(figuresOf).sort((one, other) => (other.p99 ?? -1) - (one.p99 ?? -1));
    const sum = (of: (route: RouteFigures) => number) => routes.reduce((total, route) => total + of(route), 0);
    return {
      id: this.#id,
      since: this.#since,
      requests: sum(({ requests }) => requests),
      errors: sum(({ errors }) => errors),
      socketsOpened: this.#socketsOpened,
      routes,
    };
  }

  // Not in the constructor: the platform allows neither random values nor a clock before the first request.
  #begin(now: number): void {
    this.#id = crypto.randomUUID().slice(0, 8);
    this.#since = now;
    this.#window = now;
  }

  #rotate(now: number): void {
    const passed = Math.floor((now - this.#window) / WINDOW_MS);
    if (passed < 1) return;
    for (const counts of this.#operations.values()) {
      counts.previous = passed === 1 ? counts.current : new Map<number, number>();
      counts.current = new Map();
    }
    this.#window += passed * WINDOW_MS;
  }
}

function figuresOf({ current, previous, ...counts }: Counts): RouteFigures {
  const recent = merge([current, previous]);
  return { ...counts, p50: quantile(recent, 0.5), p99: quantile(recent, 0.99) };
}
