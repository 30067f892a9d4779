import type { DocsVersion } from "../versions.ts";
import type { NavbarContext, NavbarEntry, NavbarItem } from "./navbar.ts";

/** Whether the page at `path` is the link's target or below it. */
export function isCurrent(href: string, path: string): boolean {
  return `${path.replace(/\/$/, "")}/`.startsWith(`${href.replace(/\/$/, "")}/`);
}

/**
 * Resolves configured items for rendering. An item with an unknown reference fails the build: the error names the item, and its
 * cause the mistake. Items of drafts are omitted.
 */
export function resolveNavbar(items: readonly NavbarItem[], context: NavbarContext): NavbarEntry[] {
  return items.flatMap((item) => {
    try {
      return resolveItem(item, context);
    } catch (cause) {
      throw new Error(`A theme navbar item failed to render. Check this item of the navbar's configuration:\n${JSON.stringify(item)}`, {
        cause,
      });
    }
  });
}

function resolveItem(item: NavbarItem, context: NavbarContext): NavbarEntry[] {
  switch (item.type) {
    case "link":
      return [{ kind: "link", label: item.label, href: item.href, ...(item.pages && { pages: item.pages }) }];
    case "dropdown":
      return [{ kind: "menu", label: item.label, entries: resolveNavbar(item.items, context) }];
    case "html":
      return [{ kind: "html", html: item.html }];
    case "doc":
      return docEntry(item.docId, item.label, context.version);
    case "docSidebar":
      return [sidebarEntry(item.sidebarId, item.label, context.version)];
    case "docsVersion":
      return [versionEntry(context.version, item.label)];
    case "docsVersionDropdown":
      return [
        choice(
          "Version",
          context.version.label,
          context.versions.map((version) => versionEntry(version)),
        ),
      ];
    case "localeDropdown":
      return [
        choice(
          "Language",
          "Language",
          context.locales.map(({ label, path }) => ({ kind: "link", label, href: path })),
        ),
      ];
    case "search":
      return [{ kind: "search" }];
    default: {
      const unknown: { type: string } = item;
      throw new Error(`Unknown kind of navbar item: "${unknown.type}".`);
    }
  }
}

function docEntry(docId: string, label: string | undefined, version: DocsVersion): NavbarEntry[] {
  const doc = version.docs.find(({ id }) => id === docId);
  if (doc) return [{ kind: "link", label: label ?? doc.id, href: doc.path }];
  if (version.draftIds.includes(docId)) return [];
  const known = version.docs.map(({ id }) => `- ${id}`).join("\n");
  throw new Error(`Version "${version.name}" has no doc with the id "${docId}". It has:\n${known}`);
}

function sidebarEntry(sidebarId: string, label: string | undefined, version: DocsVersion): NavbarEntry {
  if (!Object.hasOwn(version.sidebars, sidebarId)) {
    const known = Object.keys(version.sidebars).map((id) => `- ${id}`);
    throw new Error(`Version "${version.name}" has no sidebar with the id "${sidebarId}". It has:\n${known.join("\n")}`);
  }
  const first = version.sidebars[sidebarId];
  if (!first) throw new Error(`The sidebar "${sidebarId}" has no link for a navbar item.`);
  return { kind: "link", label: label ?? first.label, href: first.path };
}

function versionEntry(version: DocsVersion, label = version.label): NavbarEntry {
  return { kind: "link", label, href: version.path, version: version.name };
}

/** A dropdown, or its only entry if there is just one. */
function choice(name: string, label: string, entries: NavbarEntry[]): NavbarEntry {
  const [only, second] = entries;
  return only && !second ? only : { kind: "menu", label: `${name}: ${label}`, entries };
}
