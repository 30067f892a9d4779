import type { DocsVersion } from "../versions.ts";

type Placed<Item> = Item & { position?: "left" | "right" };

/** One configured item of the top navigation, of nine kinds. A link is also marked on the pages below `pages`, its section. */
export type NavbarItem = Placed<
  | { type: "link"; label: string; href: string; pages?: string[] }
  | { type: "dropdown"; label: string; items: NavbarItem[] }
  | { type: "html"; html: string }
  | { type: "doc"; docId: string; label?: string }
  | { type: "docSidebar"; sidebarId: string; label?: string }
  | { type: "docsVersion"; label?: string }
  | { type: "docsVersionDropdown" }
  | { type: "localeDropdown" }
  | { type: "search" }
>;

/** One rendered item. */
export type NavbarEntry =
  | { kind: "link"; label: string; href: string; version?: string; pages?: string[] }
  | { kind: "menu"; label: string; entries: NavbarEntry[] }
  | { kind: "html"; html: string }
  | { kind: "search" };

/** What items can refer to. */
export interface NavbarContext {
  version: DocsVersion;
  versions: DocsVersion[];
  locales: { label: string; htmlLang: string; path: string }[];
}

/** The site's configuration of its navbar. */
export const navbar: { title: string; hideOnScroll: boolean; items: NavbarItem[] } = {
  title: "Tifo",
  hideOnScroll: false,
  items: [
    { type: "link", label: "iOS SDK", href: "/sdk/ios" },
    { type: "link", label: "tvOS SDK", href: "/sdk/tvos" },
    { type: "link", label: "Android SDK", href: "/sdk/android" },
    { type: "link", label: "Web SDK", href: "/sdk/web", pages: ["/sdk/web-legacy", "/overlays"] },
    { type: "link", label: "Roku SDK", href: "/sdk/roku" },
    { type: "link", label: "REST API", href: "/api/rest", pages: ["/api", "/docs/api-reference", "/errors", "/changelog"] },
    { type: "link", label: "Guides", href: "/guides/integration", pages: ["/guides"] },
    { type: "link", label: "Get started", href: "/start", pages: ["/sandbox"], position: "right" },
    { type: "link", label: "Concepts", href: "/concepts/authentication", pages: ["/concepts"], position: "right" },
    { type: "search", position: "right" },
  ],
};
