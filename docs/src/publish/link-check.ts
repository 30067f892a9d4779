import { attribute, type BuiltPage, type Element, elements } from "./html.ts";

/** Attributes with URLs, by element. */
const REFERENCES: Record<string, string> = {
  a: "href",
  link: "href",
  img: "src",
  script: "src",
  source: "src",
  iframe: "src",
  video: "src",
};
const ELSEWHERE = /^(mailto|tel|data|blob|javascript):/;

/**
 * Finds faults in the links, anchors and images of the built site: a broken URL, a fragment without an element, an image without
 * alt text, a resource (other than a link) from another host.
 * @param files every file of the build, as `sdk/web/index.html`
 * @param origin the site's origin: absolute URLs below it are internal
 */
export function linkFaults(pages: readonly BuiltPage[], files: ReadonlySet<string>, origin: string): string[] {
  const ids = new Map(pages.map((page) => [page.path, idsOf(page)]));
  const faults = new Map<string, string[]>();
  for (const { path, document } of pages) {
    for (const element of elements(document)) {
      const fault = faultOf(element, path);
      if (fault !== undefined) faults.set(fault, [...(faults.get(fault) ?? []), path]);
    }
  }
  return [...faults].map(([fault, paths]) => `${fault}, on ${[...new Set(paths)].join(" ")}`);

  function faultOf(element: Element, path: string): string | undefined {
    if (element.tagName === "img" && attribute(element, "alt") === undefined)
      return `an image without alt: ${attribute(element, "src") ?? ""}`;
    const address = attribute(element, REFERENCES[element.tagName] ?? "");
    if (address === undefined || ELSEWHERE.test(address)) return undefined;
    const url = new URL(address, origin + path);
    if (url.origin !== new URL(origin).origin) return element.tagName === "a" ? undefined : `${address} comes from another host`;
    const target = decodeURIComponent(url.pathname).replace(/(.)\/$/, "$1");
    if (!ids.has(target) && !files.has(target.slice(1))) return `${address} leads nowhere`;
    const fragment = decodeURIComponent(url.hash.slice(1));
    if (fragment === "" || fragment === "top" || element.tagName !== "a" || !ids.has(target)) return undefined;
    return ids.get(target)?.has(fragment) ? undefined : `${address}: there is no #${fragment}`;
  }
}

function idsOf({ document }: BuiltPage): Set<string> {
  return new Set([...elements(document)].flatMap((element) => attribute(element, "id") ?? []));
}
