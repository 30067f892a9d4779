import { createHash } from "node:crypto";
import type { EntityMapping, KeyPlayMapping, StatMapping, StatValue } from "#db/types.ts";

// What an event says about entities and key plays, by the site's mapping. Pure functions; their work is bounded by counts.

/** Elements that are read from one event. */
export const MAX_ELEMENTS = 500;
/** Facts that are read from one event. */
export const MAX_FACTS = 2_000;

const MAX_ID = 200;
const MAX_NAME = 200;
const MAX_TEXT = 500;

/** Where and when an event was received. */
export interface Source {
  siteId: string;
  providerId: string;
  eventId: string;
  receivedAt: number;
}

export interface FoundEntity {
  id: string;
  channelId: string;
  type: string;
  externalId: string;
  /** Null if this event doesn't say. */
  name: string | null;
  image: string | null;
  team: string | null;
  at: number;
}

export interface FoundFact {
  id: string;
  channelId: string;
  entityId: string;
  fact: string;
  value: StatValue;
  at: number;
}

export interface FoundPlay {
  id: string;
  channelId: string;
  kind: string;
  title: string;
  description: string | null;
  entityId: string | null;
  mediaTime: number | null;
  at: number;
}

export interface Found {
  entities: FoundEntity[];
  facts: FoundFact[];
  plays: FoundPlay[];
}

/** Reads an event. What doesn't have the mapped form is left out: a provider's event is never rejected for it. */
export function readEvent(mapping: StatMapping, event: unknown, source: Source): Found {
  const found: Found = { entities: [], facts: [], plays: [] };
  let budget = MAX_ELEMENTS;
  for (const one of mapping.entities)
    for (const element of elementsOf(one, event).slice(0, budget)) {
      budget--;
      readEntity(one, element, source, found);
    }
  for (const one of mapping.keyPlays) {
    if (one.when && valueAt(event, one.when.fact) !== one.when.equals) continue;
    for (const [index, element] of elementsOf(one, event).slice(0, budget).entries()) {
      budget--;
      const play = readPlay(one, element, index, source);
      if (play) found.plays.push(play);
    }
  }
  return found;
}

function elementsOf({ each }: { each?: string | undefined }, event: unknown): unknown[] {
  if (each === undefined) return [event];
  const list = valueAt(event, each);
  return Array.isArray(list) ? list : [];
}

function readEntity(mapping: EntityMapping, element: unknown, source: Source, found: Found): void {
  const externalId = textAt(element, mapping.id, MAX_ID);
  if (externalId === null) return;
  const { channelId, entityType: type } = mapping;
  const id = entityId(source.siteId, channelId, type, externalId);
  const at = timeAt(element, mapping.at, source);
  const read = (path: string | undefined, max: number) => (path === undefined ? null : textAt(element, path, max));
  found.entities.push({
    ...{ id, channelId, type, externalId, at },
    name: read(mapping.name, MAX_NAME),
    image: imageOf(read(mapping.image, 2_000)),
    team: read(mapping.team, MAX_NAME),
  });
  for (const [fact, path] of Object.entries(mapping.facts)) {
    const value = valueAt(element, path);
    if (found.facts.length >= MAX_FACTS || !isStatValue(value)) continue;
    found.facts.push({ id: derivedId(id, fact), channelId, entityId: id, fact, value, at });
  }
}

function readPlay(mapping: KeyPlayMapping, element: unknown, index: number, source: Source): FoundPlay | undefined {
  const title = textAt(element, mapping.title, MAX_NAME);
  const kind = textAt(element, mapping.kind, 50);
  if (title === null || kind === null) return undefined;
  const { channelId, entityType } = mapping;
  const own = mapping.id === undefined ? null : textAt(element, mapping.id, MAX_ID);
  const about = mapping.entityId === undefined ? null : textAt(element, mapping.entityId, MAX_ID);
  const mediaTime = mapping.mediaTime === undefined ? undefined : valueAt(element, mapping.mediaTime);
  return {
    id: derivedId(source.siteId, channelId, source.providerId, own ?? `${source.eventId} ${index}`),
    channelId,
    kind,
    title,
    description: mapping.description === undefined ? null : textAt(element, mapping.description, MAX_TEXT),
    entityId: about === null || entityType === undefined ? null : entityId(source.siteId, channelId, entityType, about),
    mediaTime: typeof mediaTime === "number" && Number.isFinite(mediaTime) && mediaTime >= 0 ? mediaTime : null,
    at: timeAt(element, mapping.at, source),
  };
}

/** An entity's id follows from the provider's, so that every event about it finds it. */
export function entityId(siteId: string, channelId: string, type: string, externalId: string): string {
  return derivedId(siteId, channelId, type, externalId);
}

export function derivedId(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);
}

/** The value at a dotted path, of own properties only. */
function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

function textAt(value: unknown, path: string, max: number): string | null {
  const text = valueAt(value, path);
  if (typeof text === "number") return String(text);
  return typeof text === "string" && text !== "" && text.length <= max ? text : null;
}

function imageOf(url: string | null): string | null {
  return url !== null && /^https:\/\//.test(url) && URL.canParse(url) ? url : null;
}

/** When it was so: the provider's own time, if it has one, but never later than it was received, which would block what follows. */
function timeAt(value: unknown, path: string | undefined, { receivedAt }: Source): number {
  const stated = path === undefined ? undefined : valueAt(value, path);
  const at = typeof stated === "string" ? Date.parse(stated) : stated;
  return typeof at === "number" && Number.isFinite(at) && at >= 0 ? Math.min(Math.floor(at), receivedAt) : receivedAt;
}

function isStatValue(value: unknown): value is StatValue {
  if (typeof value === "string") return value.length <= MAX_TEXT;
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
