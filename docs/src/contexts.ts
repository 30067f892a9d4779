import { sectionOf } from "./sidebars/index.ts";
import { CURRENT } from "./versions.ts";

/** The search context of the page at `path`: the slug of its section's label, such as `web-sdk`. */
export function contextOf(path: string): string | undefined {
  const section = sectionOf(path);
  return section && contextId(section.label);
}

/** The slug of a section's label, for URLs and file names. */
export function contextId(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

/** Attributes of a page's first heading that tell the search index the page's context and version. */
export function searchFilters(path: string): Record<string, string> {
  return {
    "data-pagefind-filter": "ctx[data-ctx], version[data-version]",
    "data-ctx": contextOf(path) ?? "site",
    "data-version": CURRENT.name,
  };
}
