import type { Schemas } from "#sdk/client/index.ts";

export type SiteEvent = Schemas["SiteEvent"];

/** What is on the screen; the log itself has thirty days. */
export const MOST_SHOWN = 500;
/** How far back the log goes when it is opened. */
export const BACKLOG = 200;

/** Adds later events to those on the screen, the latest first, each once. */
export function withLater(shown: readonly SiteEvent[], later: readonly SiteEvent[]): SiteEvent[] {
  const newest = shown[0]?.sequence ?? 0;
  const added = later.filter(({ sequence }) => sequence > newest).sort((one, other) => other.sequence - one.sequence);
  return [...added, ...shown].slice(0, MOST_SHOWN);
}

/** Whether an event has the text in its type, resource, actor or request. */
export function matches({ type, resource, actor, requestId }: SiteEvent, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return wanted === "" || [type, resource, actor, requestId].some((value) => value.toLowerCase().includes(wanted));
}
