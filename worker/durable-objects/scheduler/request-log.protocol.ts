// Messages between the Worker and a site's request log. No platform import.

/** How long a request is listed. */
export const REQUESTS_KEPT_MS = 3_600_000;
/** How many requests of a site are listed at most: the newest. */
export const MOST_REQUESTS = 1_000;
/** For how long an isolate collects requests before it hands them over, ms; longer while many isolates do. */
export const LEAST_WAIT_MS = 1_000;
/** Below the 30 seconds that the platform gives to work after a response. */
export const MOST_WAIT_MS = 25_000;

/** A request as it is listed: no address, header, query, body or id of the path. */
export type RecordedRequest = {
  at: number;
  method: string;
  /** The operation's path pattern; null if the request matched none. */
  route: string | null;
  operationId: string | null;
  status: number;
  ms: number;
  requestId: string;
  /** The error's code; null without an error. */
  code: string | null;
};

/** What an isolate served for a site since its last batch. */
export interface RequestBatch {
  /** A uniform sample of them, or all. */
  entries: RecordedRequest[];
  /** How many there were. */
  requests: number;
}

export interface RequestQuery {
  /** The first digit of the status. */
  statusClass: number | null;
  route: string | null;
  /** The position of the last entry that the caller has. */
  before: { at: number; number: number } | null;
  limit: number;
}

export interface RequestPage {
  rows: (RecordedRequest & { number: number })[];
  /** How many requests there were in the last hour, and how many of them were recorded. */
  requests: number;
  recorded: number;
}
