import { getCollection } from "astro:content";
import type { NavbarContext } from "./navbar.ts";
import { sections } from "../sidebars/index.ts";
import type { SidebarItem } from "../sidebars/sidebar.ts";
import { CURRENT, type DocsVersion } from "../versions.ts";

/** The site's only version of the docs, with the current pages and sidebars. */
export async function currentVersion(): Promise<DocsVersion> {
  const docs = await getCollection("docs");
  const published = docs.filter(({ data }) => !data.draft);
  return {
    ...CURRENT,
    docs: published.map(({ id }) => ({ id, path: pathOf(id) })),
    sidebars: Object.fromEntries(sections.map(({ label, items }) => [label, firstLink(label, items)])),
    mainDocId: "index",
    draftIds: docs.filter(({ data }) => data.draft).map(({ id }) => id),
  };
}

/** What navbar items can refer to. */
export async function navbarContext(): Promise<NavbarContext> {
  const version = await currentVersion();
  return { version, versions: [version], locales: [{ label: "English", htmlLang: "en", path: "/" }] };
}

/** The path of a page by its id. */
export function pathOf(id: string): string {
  return id === "index" ? "/" : `/${id}`;
}

function firstLink(label: string, items: readonly SidebarItem[]): { label: string; path: string } | undefined {
  for (const item of items) {
    if (typeof item === "string") return { label, path: pathOf(item) };
    if ("slug" in item) return { label, path: pathOf(item.slug) };
    if ("link" in item) return { label, path: item.link };
    const inner = "items" in item ? firstLink(label, item.items) : undefined;
    if (inner) return inner;
  }
  return undefined;
}
