import { keywordsOf } from "../search-keywords.ts";
import { terms } from "../components/search/words.ts";
import { attribute, type BuiltPage, contentOf, type Element, elements, find, hasClass, lineOf, metaOf, titleOf } from "./html.ts";
import { type IndexedDocument, type Part, partsOf } from "./search-index.ts";
import { encodeWords } from "./word-index.ts";

/** One list of the file that the search box loads: titles, headings, descriptions, keywords or contents, in this order. */
export interface SearchFileEntry {
  documents: (Omit<IndexedDocument, "t"> & { t?: string })[];
  /** The stemmed words of the documents that don't show their text, as `decodeWords` reads them. */
  index: string[];
}

interface List {
  documents: SearchFileEntry["documents"];
  words: (readonly string[])[];
}

/** Pages with one short section per entry, which readers look for by its name. */
const LISTS_OF_ENTRIES = ["/errors"];
/** Longer words are hashes and URLs. */
const LONGEST_WORD = 40;
const ID = /[0-9a-f]{8}|\d{2}/;
/** A compound's parts are indexed too. */
const COMPOUND = /_|\d\D|.{16}/;

/**
 * The file that the search box loads: five lists as in `search-index.json`, but small enough to load on focus. Contents
 * are reduced to their different words, and the box computes the index.
 */
export function searchFile(pages: readonly BuiltPage[], breadcrumbOf: (path: string) => string[]): SearchFileEntry[] {
  const lists = Array.from({ length: 5 }, (): List => ({ documents: [], words: [] }));
  let last = 0;
  const add = (list: number, document: Omit<SearchFileEntry["documents"][number], "i">, words: readonly string[] = []): number => {
    lists[list]?.documents.push({ i: ++last, ...document });
    lists[list]?.words.push(words);
    return last;
  };
  for (const page of pages) {
    const content = contentOf(page);
    if (!content) continue;
    const u = page.path;
    const p = add(0, { t: titleOf(content), u, b: breadcrumbOf(u) });
    const description = metaOf(page, "description");
    if (description) add(2, { t: description, u, p });
    const keywords = keywordsOf(u);
    if (find(content, (element) => hasClass(element, "endpoint"))) {
      add(3, { u, p }, [...terms(keywords ?? ""), ...operationWords(u, content)]);
      continue;
    }
    if (keywords) add(3, { u, p }, terms(keywords));
    const parts = partsOf(content);
    const entries = LISTS_OF_ENTRIES.includes(u) ? parts.filter(({ anchor }) => anchor !== "") : [];
    for (const entry of entries) addEntry(entry, u);
    const sections = parts.filter((part) => !entries.includes(part));
    for (const { heading, anchor } of sections) if (heading !== "") add(1, { t: heading, u, h: anchor, p });
    const shown = new Set(
      [titleOf(content), description ?? "", keywords ?? "", ...sections.map(({ heading }) => heading)].flatMap((text) => terms(text)),
    );
    const words = sections
      .flatMap(({ text }) => text.join(" ").split(/\s+/))
      .filter((word) => word.length < LONGEST_WORD && !ID.test(word));
    add(
      4,
      { u, p },
      words.flatMap((text) => terms(text)).filter((word) => !shown.has(word) && !COMPOUND.test(word)),
    );
  }
  return lists.map(({ documents, words }) => ({ documents, index: encodeWords(withoutCommon(words)) }));

  function addEntry({ heading, anchor, text }: Part, u: string): void {
    const own = add(0, { t: heading, u, h: anchor, b: breadcrumbOf(u) });
    // The status, the cause and the fix.
    const [status = "", ...help] = text;
    add(2, {
      t: help
        .join(" ")
        .replaceAll(/(Cause|Fix)\./g, "")
        .trim()
        .slice(0, 160),
      u,
      h: anchor,
      p: own,
    });
    add(3, { u, h: anchor, p: own }, terms(`${status} error code ${keywordsOf(u + anchor) ?? ""}`));
  }
}

/** Words that a quarter of the documents contain distinguish none of them. */
function withoutCommon(documents: readonly (readonly string[])[]): string[][] {
  const counts = new Map<string, number>();
  for (const word of documents.flatMap((words) => [...new Set(words)])) counts.set(word, (counts.get(word) ?? 0) + 1);
  const filled = documents.filter((words) => words.length > 0).length;
  return documents.map((words) => words.filter((word) => (counts.get(word) ?? 0) <= Math.max(10, filled / 4)));
}

/** Words by which an operation is found besides its title: its id, its area, its description and the names of its fields. */
function operationWords(path: string, content: Element): string[] {
  const all = [...elements(content)];
  const names = all.filter((element) => hasClass(element, "name")).map(lineOf);
  const area = all.find((element) => attribute(element, "href")?.startsWith("/docs/api-reference#") === true);
  const end = all.findIndex(({ tagName }) => tagName === "h2");
  const description = all
    .slice(0, end)
    .filter(({ tagName }) => tagName === "p")
    .map(lineOf);
  return [path.split("/").at(-1) ?? "", ...names, area ? lineOf(area) : "", ...description].flatMap((text) => terms(text));
}
