import type { DocsVersion } from "../versions.ts";

type Placed<Item> = Item & { position?: "left" | "right" };

/** One configured item of the top navigation, of nine kinds. */
export type NavbarItem = Placed<
  | { type: "link"; label: string; href: string }
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
  | { kind: "link"; label: string; href: string; version?: string }
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
    { type: "link", label: "Web SDK", href: "/sdk/web" },
    { type: "link", label: "Roku SDK", href: "/sdk/roku" },
    { type: "link", label: "REST API", href: "/api/rest" },
    { type: "link", label: "Guides", href: "/guides/integration" },
    { type: "search", position: "right" },
  ],
};
