import { describe, expect, test } from "vitest";
import { navbar, type NavbarContext, type NavbarItem } from "./navbar.ts";
import { isCurrent, resolveNavbar } from "./resolve-navbar.ts";

const version = {
  name: "current",
  label: "2.0.0",
  path: "/",
  docs: [{ id: "start", path: "/start" }],
  sidebars: { web: { label: "Web SDK", path: "/sdk/web" }, empty: undefined },
  mainDocId: "start",
  draftIds: ["secret"],
};
const context: NavbarContext = { version, versions: [version], locales: [{ label: "English", htmlLang: "en", path: "/" }] };

/** The cause of the build error for an item. */
function causeOf(item: unknown): string {
  try {
    Reflect.apply(resolveNavbar, undefined, [[item], context]);
  } catch (error) {
    if (!(error instanceof Error) || !(error.cause instanceof Error)) throw error;
    expect(error.message).toContain("A theme navbar item failed to render");
    expect(error.message).toContain(JSON.stringify(item));
    return error.cause.message;
  }
  throw new Error("The item was resolved.");
}

describe("the site's own navbar", () => {
  test("has seven links in order, then getting started, concepts and the search box", () => {
    const entries = resolveNavbar(navbar.items, context);
    expect(entries.map((entry) => (entry.kind === "link" ? `${entry.label} ${entry.href}` : entry.kind))).toEqual([
      "iOS SDK /sdk/ios",
      "tvOS SDK /sdk/tvos",
      "Android SDK /sdk/android",
      "Web SDK /sdk/web",
      "Roku SDK /sdk/roku",
      "REST API /api/rest",
      "Guides /guides/integration",
      "Get started /start",
      "Concepts /concepts/authentication",
      "search",
    ]);
  });

  test("marks the pages below a link as current, but no page whose name only has the same prefix", () => {
    expect(isCurrent("/sdk/web", "/sdk/web/core-sdk/configure")).toBe(true);
    expect(isCurrent("/sdk/web", "/sdk/web/")).toBe(true);
    expect(isCurrent("/sdk/web", "/sdk/web-legacy")).toBe(false);
  });

  test.each([
    ["/guides/wallets", "Guides"],
    ["/concepts/webhooks", "Concepts"],
    ["/docs/api-reference/createPoll", "REST API"],
    ["/api/key", "REST API"],
    ["/start", "Get started"],
    ["/sandbox", "Get started"],
    ["/changelog", "REST API"],
    ["/overlays/gallery", "Web SDK"],
    ["/overlays/gallery/scorebug", "Web SDK"],
    ["/sdk/web-legacy", "Web SDK"],
    ["/sdk/web/core-sdk/configure", "Web SDK"],
  ])("marks on %s only the link of its section, %s", (path, label) => {
    const links = resolveNavbar(navbar.items, context).filter((entry) => entry.kind === "link");
    const marked = links.filter(({ href, pages = [] }) => [href, ...pages].some((base) => isCurrent(base, path)));
    expect(marked.map((entry) => entry.label)).toEqual([label]);
  });
});

describe("a navbar item", () => {
  test.each<[NavbarItem, unknown]>([
    [
      { type: "link", label: "Home", href: "/" },
      { kind: "link", label: "Home", href: "/" },
    ],
    [
      { type: "html", html: "<b>Hi</b>" },
      { kind: "html", html: "<b>Hi</b>" },
    ],
    [{ type: "search" }, { kind: "search" }],
    [
      { type: "doc", docId: "start", label: "Start" },
      { kind: "link", label: "Start", href: "/start" },
    ],
    [
      { type: "docSidebar", sidebarId: "web" },
      { kind: "link", label: "Web SDK", href: "/sdk/web" },
    ],
    [{ type: "docsVersion" }, { kind: "link", label: "2.0.0", href: "/", version: "current" }],
    [{ type: "docsVersionDropdown" }, { kind: "link", label: "2.0.0", href: "/", version: "current" }],
    [{ type: "localeDropdown" }, { kind: "link", label: "English", href: "/" }],
    [
      { type: "dropdown", label: "More", items: [{ type: "doc", docId: "start" }] },
      { kind: "menu", label: "More", entries: [{ kind: "link", label: "start", href: "/start" }] },
    ],
  ])("is drawn by its kind: %o", (item, entry) => {
    expect(resolveNavbar([item], context)).toEqual([entry]);
  });

  test("is a menu if there are several versions", () => {
    const older = { ...version, name: "1", label: "1.0.0", path: "/1" };
    const [entry] = resolveNavbar([{ type: "docsVersionDropdown" }], { ...context, versions: [version, older] });
    expect(entry).toMatchObject({ kind: "menu", label: "Version: 2.0.0", entries: [{ href: "/" }, { href: "/1", version: "1" }] });
  });

  test("of a draft is omitted", () => {
    expect(resolveNavbar([{ type: "doc", docId: "secret" }], context)).toEqual([]);
  });

  test("of an unknown kind fails the build", () => {
    expect(causeOf({ type: "carousel" })).toContain('"carousel"');
  });

  test("of an unknown doc fails the build and lists the docs", () => {
    expect(causeOf({ type: "doc", docId: "strat" })).toContain("- start");
  });

  test("of an unknown sidebar fails the build and lists the sidebars", () => {
    expect(causeOf({ type: "docSidebar", sidebarId: "wbe" })).toContain("- web");
  });

  test("of a sidebar without links fails the build", () => {
    expect(causeOf({ type: "docSidebar", sidebarId: "empty" })).toContain("has no link");
  });

  test("inside a dropdown fails with the whole chain of causes", () => {
    const item = { type: "dropdown", label: "More", items: [{ type: "doc", docId: "strat" }] };
    expect(causeOf(item)).toContain("failed to render");
  });
});
