import { type DefaultTreeAdapterTypes, parse } from "parse5";

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

/** One HTML page of the built site. */
export interface BuiltPage {
  /** URL path without a trailing slash; `/` is the home page. */
  path: string;
  document: DefaultTreeAdapterTypes.Document;
}

/** Reads the page of a file in the build folder, such as `sdk/web/index.html`. */
export function readPage(file: string, html: string): BuiltPage {
  const path = `/${file.replace(/(^|\/)index\.html$/, "").replace(/\.html$/, "")}`;
  return { path, document: parse(html) };
}

export function isElement(node: Node): node is Element {
  return "tagName" in node;
}

/** Every element below `parent`, in document order. */
export function* elements(parent: Parent): Generator<Element> {
  for (const child of parent.childNodes) {
    if (!isElement(child)) continue;
    yield child;
    yield* elements(child);
  }
}

/** The first element below `parent` that passes `test`. */
export function find(parent: Parent, test: (element: Element) => boolean): Element | undefined {
  for (const element of elements(parent)) if (test(element)) return element;
  return undefined;
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value;
}

export function hasClass(element: Element, name: string): boolean {
  return (attribute(element, "class") ?? "").split(/\s+/).includes(name);
}

/** The text below a node, as written. */
export function textOf(node: Node): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

/** The text below a node, on one line. */
export function lineOf(node: Node): string {
  return textOf(node).replaceAll(/\s+/g, " ").trim();
}

/** The content of a page's `<meta name=…>`. */
export function metaOf({ document }: BuiltPage, name: string): string | undefined {
  const meta = find(document, (element) => element.tagName === "meta" && attribute(element, "name") === name);
  return meta && attribute(meta, "content");
}

/** The page's own content, or undefined for pages that search excludes: debug pages, search, not found. */
export function contentOf({ document }: BuiltPage): Element | undefined {
  return find(document, (element) => element.tagName === "main" && attribute(element, "data-pagefind-body") !== undefined);
}

/** The page's first heading. */
export function titleOf(content: Element): string {
  const heading = find(content, ({ tagName }) => tagName === "h1");
  return heading ? lineOf(heading) : "";
}

/** Elements that belong to the shell and not to the page's content. */
export function isShell(element: Element): boolean {
  return (
    ["script", "style", "template", "button", "svg", "footer", "nav", "form", "noscript", "select", "mobile-starlight-toc"].includes(
      element.tagName,
    ) ||
    attribute(element, "data-pagefind-ignore") !== undefined ||
    attribute(element, "role") === "tablist" ||
    hasClass(element, "sl-anchor-link") ||
    hasClass(element, "sr-only") ||
    hasClass(element, "copy")
  );
}
