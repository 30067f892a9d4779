import type { Schemas } from "../client/index.ts";
import type { Session } from "./session.ts";

/** Time between two reports, ms; each page view starts at a random moment of it. */
const REPORT_MS = 10_000;
/** Entries of one report. More are reported sooner. */
const MAX_ENTRIES = 50;
/** Entries that wait for a report or for the site's setting; the oldest are dropped. */
const MAX_WAITING = 100;
/** With more viewers than this, not every viewer reports. */
const ALL_REPORT = 5_000;
const MAX_WEIGHT = 1_000;
const ID = /^[0-9a-f]{24}$/;

export type ReportedEntry = Schemas["ImpressionBatch"]["entries"][number];

/** Reports what the viewer was shown and did to the site, in batches that no response is needed for. */
export interface ImpressionReports {
  add(entry: ReportedEntry): void;
  /** Whether the site collects reports. Until it is known, they wait. */
  allow(collect: boolean): void;
  /** Sends what is waiting, and ends. */
  stop(): void;
}

/** `viewers` is the number of viewers on the channel. */
export function reportImpressions(session: Session, channelId: string, viewers: () => number): ImpressionReports {
  const { environment } = session;
  let waiting: ReportedEntry[] = [];
  let collect: boolean | undefined = session.reportsImpressions ? undefined : false;
  let timer: ReturnType<typeof environment.setTimer> | undefined;
  const removeListener = environment.onLeave(report);

  function report(): void {
    environment.clearTimer(timer);
    timer = undefined;
    if (collect !== true || waiting.length === 0) return;
    const entries = waiting.slice(0, MAX_ENTRIES);
    const weight = weightOf(viewers());
    // One of `weight` viewers reports for all of them: on average that counts each entry once, whoever is drawn.
    const isDrawn = weight === 1 || environment.random() * weight < 1;
    if (isDrawn && !send(entries, weight)) return scheduleNext();
    waiting = waiting.slice(entries.length);
    if (waiting.length > 0) scheduleNext();
  }

  function send(entries: ReportedEntry[], weight: number): boolean {
    const body: Schemas["ImpressionBatch"] = { channelId, deviceId: session.deviceId, weight, entries };
    return environment.sendBeacon(`${session.origin}/insights/v1/impressions?clientId=${session.clientId}`, JSON.stringify(body));
  }

  function scheduleNext(): void {
    timer ??= environment.setTimer(report, REPORT_MS * (0.5 + environment.random() / 2));
  }

  return {
    add(entry) {
      if (collect === false || !ID.test(entry.id)) return;
      waiting = [...waiting, entry].slice(-MAX_WAITING);
      if (collect === undefined) return;
      if (waiting.length >= MAX_ENTRIES) report();
      else scheduleNext();
    },
    allow(next) {
      if (!session.reportsImpressions) return;
      collect = next;
      if (!next) waiting = [];
      else if (waiting.length > 0) scheduleNext();
    },
    stop() {
      report();
      collect = false;
      environment.clearTimer(timer);
      removeListener();
    },
  };
}

function weightOf(viewers: number): number {
  return Math.min(MAX_WEIGHT, Math.max(1, Math.ceil(viewers / ALL_REPORT)));
}
