import { keywordsOf } from "../search-keywords/index.ts";
import { attribute, type BuiltPage, contentOf, type Element, isElement, isShell, lineOf, metaOf, titleOf } from "./html.ts";
import { buildIndex, type SerializedIndex } from "./text-index.ts";

/** One document of the published index. Its type is that of its list. */
export interface IndexedDocument {
  /** Number, unique within the file. */
  i: number;
  /** Title, heading, description, keywords or content. */
  t: string;
  /** Path of the page. */
  u: string;
  /** Anchor with its `#`, of a heading or the content below one. */
  h?: string;
  /** Title of the page or section that contains the text. */
  s?: string;
  /** Breadcrumbs of the page, outermost first. */
  b?: string[];
  /** Number of the page's title document. */
  p?: number;
}

/** Titles, headings, descriptions, keywords and contents, in this order. */
export type SearchIndex = { documents: IndexedDocument[]; index: SerializedIndex }[];

/** A section of a page. */
export interface Part {
  heading: string;
  anchor: string;
  text: string[];
}

/** The published search index of these pages, for tools without a browser: five lists of documents, each with its index. */
export function searchIndex(pages: readonly BuiltPage[], breadcrumbOf: (path: string) => string[]): SearchIndex {
  const [titles, headings, descriptions, keywords, contents]: IndexedDocument[][] = [[], [], [], [], []];
  let last = 0;
  for (const page of pages) {
    const content = contentOf(page);
    if (!content) continue;
    const u = page.path;
    const s = titleOf(content);
    const p = ++last;
    titles?.push({ i: p, t: s, u, b: breadcrumbOf(u) });
    const description = metaOf(page, "description");
    if (description) descriptions?.push({ i: ++last, t: description, s, u, p });
    const words = keywordsOf(u);
    if (words) keywords?.push({ i: ++last, t: words, s, u, p });
    for (const { heading, anchor, text } of partsOf(content)) {
      if (heading !== "") headings?.push({ i: ++last, t: heading, u, h: anchor, p });
      const t = text.join(" ").trim();
      if (t !== "") contents?.push({ i: ++last, t, s: heading || s, u, ...(anchor === "" ? {} : { h: anchor }), p });
    }
  }
  return [titles, headings, descriptions, keywords, contents].map((documents = []) => ({ documents, index: buildIndex(documents) }));
}

/** A page's text, split by headings. */
export function partsOf(content: Element): Part[] {
  const parts: Part[] = [{ heading: "", anchor: "", text: [] }];
  collect(content, parts);
  return parts;
}

function collect(parent: Element, parts: Part[]): void {
  for (const node of parent.childNodes) {
    if (!isElement(node)) {
      if (lineOf(node) !== "") parts.at(-1)?.text.push(lineOf(node));
    } else if (/^h[2-6]$/.test(node.tagName) && attribute(node, "id") !== undefined) {
      parts.push({ heading: lineOf(node), anchor: `#${attribute(node, "id") ?? ""}`, text: [] });
    } else if (node.tagName !== "h1" && !isShell(node)) {
      collect(node, parts);
    }
  }
}
