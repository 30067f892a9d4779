import { keywordsOf } from "../search-keywords/index.ts";
import { endpointTerm } from "../components/search/endpoints.ts";
import { stem, terms } from "../components/search/words.ts";
import { attribute, type BuiltPage, contentOf, type Element, elements, find, hasClass, lineOf, metaOf, titleOf } from "./html.ts";
import { type IndexedDocument, type Part, partsOf } from "./search-index.ts";
import { encodeWords } from "./word-index.ts";

/** One list of the file that the search box loads: titles, headings, descriptions, keywords or contents, in this order. */
export interface SearchFileEntry {
  /** Only titles have a number and their path; the others have the number of their title as `p`. */
  documents: (Omit<IndexedDocument, "i" | "t" | "u"> & { i?: number; t?: string; u?: string })[];
  /** The stemmed words of the documents besides their text, as `decodeWords` reads them. */
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
/** The list of contents. */
const CONTENTS = 4;
const CAMEL_CASE = /^\W*\p{Ll}+\p{Lu}[\p{L}\d]*\W*$/u;
/** The name of an environment variable, which is indexed as a whole. */
const VARIABLE = /[A-Z][A-Z\d]*(?:_[A-Z\d]+)+/g;

/**
 * The file that the search box loads: five lists as in `search-index.json`, but small enough to load on focus. Contents
 * are reduced to their different words, and the box computes the index.
 */
export function searchFile(pages: readonly BuiltPage[], breadcrumbOf: (path: string) => string[]): SearchFileEntry[] {
  const lists = Array.from({ length: 5 }, (): List => ({ documents: [], words: [] }));
  const local = new Set<string>();
  let last = 0;
  const add = (list: number, document: SearchFileEntry["documents"][number], words: readonly string[] = []): void => {
    lists[list]?.documents.push(document);
    lists[list]?.words.push(words);
  };
  const addTitle = (document: SearchFileEntry["documents"][number]): number => {
    add(0, { i: ++last, ...document });
    return last;
  };
  for (const page of pages) {
    const content = contentOf(page);
    if (!content) continue;
    const u = page.path;
    const p = addTitle({ t: titleOf(content), u, b: breadcrumbOf(u) });
    const description = metaOf(page, "description");
    if (description) add(2, { t: description, p });
    const keywords = keywordsOf(u);
    const endpoint = find(content, (element) => hasClass(element, "endpoint"));
    if (endpoint) {
      const named = new Set(terms(`${titleOf(content)} ${keywords ?? ""}`));
      const words = operationWords(u, content).filter((word) => !named.has(word));
      add(3, { p, ...(keywords ? { t: keywords } : {}) }, [endpointTerm(lineOf(endpoint)), ...words]);
      continue;
    }
    if (keywords) add(3, { p, t: keywords });
    const all = partsOf(content);
    const entries = LISTS_OF_ENTRIES.includes(u) ? all.filter(({ anchor }) => anchor !== "") : [];
    for (const entry of entries) addEntry(entry, u);
    const sections = all.filter((part) => !entries.includes(part));
    for (const { heading, anchor } of sections) if (heading !== "") add(1, { t: heading, h: anchor, p });
    const shown = new Set(
      [titleOf(content), description ?? "", keywords ?? "", ...sections.map(({ heading }) => heading)].flatMap((text) => terms(text)),
    );
    const words = sections
      .flatMap(({ text }) => text.join(" ").split(/\s+/))
      .filter((word) => word.length < LONGEST_WORD && !ID.test(word));
    const variables = words.flatMap((word) => word.match(VARIABLE) ?? []).map((name) => name.toLowerCase());
    const parts = words.flatMap((text) => terms(text)).filter((word) => !COMPOUND.test(word));
    for (const word of words.filter((text) => CAMEL_CASE.test(text))) local.add(stem(word.replaceAll(/\W/g, "").toLowerCase()));
    add(
      CONTENTS,
      { p },
      [...variables, ...parts].filter((word) => !shown.has(word)),
    );
  }
  return lists.map(({ documents, words }, list) => {
    return { documents, index: encodeWords(withoutCommon(words, list === CONTENTS ? local : new Set())) };
  });

  function addEntry({ heading, anchor, text }: Part, u: string): void {
    const own = addTitle({ t: heading, u, h: anchor, b: breadcrumbOf(u) });
    // The status, the cause and the fix.
    const [status = "", ...help] = text;
    add(2, {
      t: help
        .join(" ")
        .replaceAll(/(Cause|Fix)\./g, "")
        .trim()
        .slice(0, 160),
      p: own,
    });
    add(3, { p: own, t: [status, "error code", keywordsOf(u + anchor)].filter(Boolean).join(", ") });
  }
}

/** Words that a quarter of the documents contain distinguish none of them. Nobody looks for a sample's own variables. */
function withoutCommon(documents: readonly (readonly string[])[], local: ReadonlySet<string>): string[][] {
  const counts = new Map<string, number>();
  for (const word of documents.flatMap((words) => [...new Set(words)])) counts.set(word, (counts.get(word) ?? 0) + 1);
  const filled = documents.filter((words) => words.length > 0).length;
  const isLocal = (word: string): boolean => counts.get(word) === 1 && local.has(word);
  return documents.map((words) => words.filter((word) => !isLocal(word) && (counts.get(word) ?? 0) <= Math.max(10, filled / 4)));
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
