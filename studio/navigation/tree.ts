import type { Schemas } from "#sdk/client/index.ts";

export type EntryType = Schemas["NavigationEntry"]["type"];
type Parent = Schemas["NavigationEntry"];

/** An entry of a menu while it is edited. */
export interface Entry {
  /** Identifies it on this screen; the API knows entries by their places only. */
  key: string;
  type: EntryType;
  /** Empty for a folder, and until a page is chosen. */
  pageId: string;
  /** Empty for a page that is shown by its own name. */
  name: string;
  private: boolean;
  children: readonly Entry[];
}

export type Place = "before" | "after" | "on";
export type Direction = "up" | "down" | "in" | "out";

export const MAX_LEVELS = 4;
export const NEW_FOLDER = "New folder";

let lastKey = 0;

export function newEntry(type: EntryType): Entry {
  lastKey += 1;
  return { key: `entry-${String(lastKey)}`, type, pageId: "", name: type === "folder" ? NEW_FOLDER : "", private: false, children: [] };
}

export interface StoredEntry {
  type: EntryType;
  pageId?: string | undefined;
  name?: string | undefined;
  private?: boolean | undefined;
  children?: StoredEntry[] | undefined;
}

export function entriesOf(stored: readonly StoredEntry[]): Entry[] {
  return stored.map(({ type, pageId = "", name = "", private: isPrivate = false, children = [] }) => ({
    ...newEntry(type),
    pageId,
    name,
    private: isPrivate,
    children: entriesOf(children),
  }));
}

/** The entries as the API takes them, whose schema has a type for each level. */
export function parentsOf(entries: readonly Entry[]): Parent[] {
  const fourth = entries4;
  const third = below(fourth);
  const second = below(third);
  return entries.map(below(second));
}

function entries4({ type, pageId, name, private: isPrivate }: Entry) {
  const text = name.trim();
  return { type, private: isPrivate, ...(type !== "folder" && pageId !== "" && { pageId }), ...(text !== "" && { name: text }) };
}

function below<T>(inner: (entry: Entry) => T) {
  return (entry: Entry) => ({ ...entries4(entry), ...(entry.children.length > 0 && { children: entry.children.map(inner) }) });
}

export function find(entries: readonly Entry[], key: string): Entry | null {
  for (const entry of entries) {
    const found = entry.key === key ? entry : find(entry.children, key);
    if (found) return found;
  }
  return null;
}

export function count(entries: readonly Entry[]): number {
  return entries.reduce((sum, { children }) => sum + 1 + count(children), 0);
}

export function changed(entries: readonly Entry[], key: string, change: Partial<Omit<Entry, "key">>): Entry[] {
  return entries.map((entry) =>
    entry.key === key ? { ...entry, ...change } : { ...entry, children: changed(entry.children, key, change) },
  );
}

export function without(entries: readonly Entry[], key: string): Entry[] {
  return entries.filter((entry) => entry.key !== key).map((entry) => ({ ...entry, children: without(entry.children, key) }));
}

/** Adds an entry next to another one or below it; null if that has no place for it. */
export function inserted(entries: readonly Entry[], added: Entry, target: string, place: Place): Entry[] | null {
  const next = insertedAt(entries, added, target, place);
  return next !== null && levelsOf(next) <= MAX_LEVELS ? next : null;
}

function insertedAt(entries: readonly Entry[], added: Entry, target: string, place: Place): Entry[] | null {
  const at = entries.findIndex(({ key }) => key === target);
  const found = entries[at];
  if (found && place === "on") return entries.with(at, { ...found, children: [...found.children, added] });
  if (found) return entries.toSpliced(place === "before" ? at : at + 1, 0, added);
  for (const [index, entry] of entries.entries()) {
    const children = insertedAt(entry.children, added, target, place);
    if (children) return entries.with(index, { ...entry, children });
  }
  return null;
}

/** Moves an entry, with all below it; null if it can't be there: below itself, or too deep. */
export function moved(entries: readonly Entry[], key: string, target: string, place: Place): Entry[] | null {
  const entry = find(entries, key);
  if (!entry || find([entry], target)) return null;
  return inserted(without(entries, key), entry, target, place);
}

/** Moves an entry among its neighbours, below the one before it, or out of what it is below; null if there is no such place. */
export function shifted(entries: readonly Entry[], key: string, direction: Direction): Entry[] | null {
  const { siblings, parent } = around(entries, key);
  const at = siblings.findIndex((entry) => entry.key === key);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  switch (direction) {
    case "up":
      return before ? moved(entries, key, before.key, "before") : null;
    case "down":
      return after ? moved(entries, key, after.key, "after") : null;
    case "in":
      return before ? moved(entries, key, before.key, "on") : null;
    case "out":
      return parent ? moved(entries, key, parent.key, "after") : null;
  }
}

function around(entries: readonly Entry[], key: string, parent: Entry | null = null): { siblings: readonly Entry[]; parent: Entry | null } {
  if (entries.some((entry) => entry.key === key)) return { siblings: entries, parent };
  for (const entry of entries) {
    const found = around(entry.children, key, entry);
    if (found.siblings.length > 0) return found;
  }
  return { siblings: [], parent: null };
}

function levelsOf(entries: readonly Entry[]): number {
  return entries.length === 0 ? 0 : 1 + Math.max(...entries.map(({ children }) => levelsOf(children)));
}

const PLACE = /^parents((?:\.\d+\.children)*)\.(\d+)(?:\.(type|pageId|name|private))?$/;

/** The entry and the field that the path of one of the server's issues is about. */
export function placeOf(entries: readonly Entry[], path: string): { key: string; field: string } | null {
  const [, parents = "", last, field = ""] = PLACE.exec(path) ?? [];
  if (last === undefined) return null;
  const indexes = [...[...parents.matchAll(/\d+/g)].map(([text]) => Number(text)), Number(last)];
  let at: readonly Entry[] = entries;
  let entry: Entry | undefined;
  for (const index of indexes) {
    entry = at[index];
    at = entry?.children ?? [];
  }
  return entry ? { key: entry.key, field } : null;
}
