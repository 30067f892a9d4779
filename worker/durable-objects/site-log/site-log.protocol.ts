// What the Worker and a site's log say to each other. No platform import.

/** An event as the log keeps it. */
export interface LogEntry {
  id: string;
  type: string;
  /** Milliseconds since 1970 UTC. */
  created: number;
  sequence: number;
  /** The event before of the same resource. */
  previousSequence: number | null;
  resource: string;
  /** JSON text. */
  data: string;
  actor: string;
  requestId: string;
  /** "<method> <path>" of the operation; null for what Tifo did by itself. */
  origin: string | null;
}

/** How much of the log to read: after a sequence, of some types. */
export interface LogQuery {
  after: number;
  limit: number;
  types: string[] | null;
}
