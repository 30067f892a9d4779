import { sectionOf } from "./sidebars/index.ts";
import { CURRENT } from "./versions.ts";

/** The search context of the page at `path`: its section's label in a form for addresses, such as `web-sdk`. */
export function contextOf(path: string): string | undefined {
  const section = sectionOf(path);
  return section && contextId(section.label);
}

/** A section's label in a form for addresses and file names. */
export function contextId(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

/** Attributes of a page's first heading, by which the search index knows the page's context and version. */
export function searchFilters(path: string): Record<string, string> {
  return {
    "data-pagefind-filter": "ctx[data-ctx], version[data-version]",
    "data-ctx": contextOf(path) ?? "site",
    "data-version": CURRENT.name,
  };
}
