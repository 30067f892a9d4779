import type { Schemas } from "#sdk/client/index.ts";
import type { Navigation } from "./queries.ts";
import { entriesOf, type Entry, parentsOf } from "./tree.ts";

export interface Link {
  name: string;
  url: string;
}

/** What the editor changes of a navigation. */
export interface Draft {
  name: string;
  type: Navigation["type"];
  entries: readonly Entry[];
  links: readonly Link[];
}

export const NEW: Draft = { name: "", type: "custom", entries: [], links: [] };

export function draftOf({ name, type, parents, externalLinks }: Navigation): Draft {
  return { name, type, entries: entriesOf(parents), links: externalLinks };
}

export function bodyOf({ name, type, entries, links }: Draft, siteId: string): Schemas["NavigationInput"] {
  return {
    siteId,
    name,
    type,
    parents: parentsOf(entries),
    externalLinks: links.map((link) => ({ name: link.name.trim(), url: link.url.trim() })),
  };
}

/** A navigation in words, to compare two versions. */
export function described({ name, type, entries, links }: Draft, names: ReadonlyMap<string, string>) {
  return { name, type, entries: outline(entries, names), externalLinks: links.map((link) => `${link.name}: ${link.url}`).join("\n") };
}

function outline(entries: readonly Entry[], names: ReadonlyMap<string, string>, number = ""): string {
  return entries
    .map((entry, index) => {
      const own = `${number}${String(index + 1)}.`;
      const line = `${own} ${titleOf(entry, names)}${entry.private ? " (private)" : ""}`;
      return entry.children.length === 0 ? line : `${line}\n${outline(entry.children, names, own)}`;
    })
    .join("\n");
}

/** What viewers read; a page has its own name unless the entry gives it another. */
export function titleOf({ type, name, pageId }: Entry, names: ReadonlyMap<string, string>): string {
  if (name.trim() !== "") return name;
  if (type === "folder") return "Folder without a name";
  return pageId === "" ? "No page chosen" : (names.get(pageId) ?? pageId);
}

export function pageIdsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ pageId, children }) => [...(pageId === "" ? [] : [pageId]), ...pageIdsOf(children)]);
}
