// Messages between the Worker and a site's log. No platform import.

/** An event as the log stores it. */
export interface LogEntry {
  id: string;
  type: string;
  /** Milliseconds since 1970 UTC. */
  created: number;
  sequence: number;
  /** The sequence of the same resource's previous event. */
  previousSequence: number | null;
  resource: string;
  /** JSON text. */
  data: string;
  actor: string;
  requestId: string;
  /** "<method> <path>" of the operation; null if Tifo did it on its own. */
  origin: string | null;
}

/** Which part of the log to read: after a sequence, of some types. */
export interface LogQuery {
  after: number;
  limit: number;
  types: string[] | null;
}

/** An event whose effects failed. */
export interface FailedEffect {
  id: string;
  type: string;
  resource: string;
  sequence: number;
  created: number;
  attempts: number;
  /** When it is retried; null if it was given up. */
  due: number | null;
  cause: string;
}

/** What a site's log reports of its failed effects. Counts end at 1,000. */
export interface FailureSummary {
  failing: number;
  abandoned: number;
  /** When the oldest of the events was committed. */
  oldest: number;
  /** Why the last one failed. */
  cause: string;
}
