import { recall, remember } from "../../storage.ts";

/** A request that a page of this site has sent for the reader. */
export interface SentRequest {
  method: string;
  path: string;
  status: number;
  at: number;
}

const KEY = "tifo.requests";
const KEPT = 20;
/** Dispatched on the window of the page that has sent a request; other tabs get a `storage` event. */
export const REQUEST_SENT = "tifo:request";

/** Notes a request for the list on the reader's pages, in this browser only. */
export function recordRequest(request: Omit<SentRequest, "at">): void {
  remember(KEY, JSON.stringify([{ ...request, at: Date.now() }, ...sentRequests()].slice(0, KEPT)));
  window.dispatchEvent(new Event(REQUEST_SENT));
}

/** The latest requests, newest first. */
export function sentRequests(): SentRequest[] {
  try {
    const stored: unknown = JSON.parse(recall(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRequest) : [];
  } catch {
    return [];
  }
}

function isRequest(value: unknown): value is SentRequest {
  if (typeof value !== "object" || value === null) return false;
  const kind = (name: string): string => typeof Reflect.get(value, name);
  return kind("method") === "string" && kind("path") === "string" && kind("status") === "number" && kind("at") === "number";
}
