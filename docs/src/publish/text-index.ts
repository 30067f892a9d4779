import { STOP_WORDS } from "../components/search/query.ts";

/** An inverted index in lunr 2.3 format: `lunr.Index.load(index)`, then `search`. */
export interface SerializedIndex {
  version: string;
  fields: string[];
  /** Per document, as `t/<i>`: term numbers, each followed by its weight. */
  fieldVectors: [string, number[]][];
  /** Terms in order, with the documents that contain them. */
  invertedIndex: [string, { _index: number; t: Record<string, Record<string, never>> }][];
  /** Empty: words are indexed in lower case without further processing. */
  pipeline: string[];
}

// The usual constants of BM25.
const K1 = 1.2;
const B = 0.75;

/** Indexes the field `t` of documents by their numbers. */
export function buildIndex(documents: readonly { i: number; t: string }[]): SerializedIndex {
  const counts = documents.map(({ i, t }) => ({ i, words: wordsOf(t) }));
  const average = counts.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, counts.length);
  const holders = new Map<string, Set<number>>();
  for (const { i, words } of counts) for (const word of words) holders.set(word, (holders.get(word) ?? new Set()).add(i));
  // Loading requires code unit order.
  const terms = [...holders].sort(([one], [other]) => (one < other ? -1 : 1));
  const numbers = new Map(terms.map(([term], number) => [term, number]));
  return {
    version: "2.3.9",
    fields: ["t"],
    fieldVectors: counts.map(({ i, words }) => [`t/${i}`, vector(words)]),
    invertedIndex: terms.map(([term, ids], number) => [
      term,
      { _index: number, t: Object.fromEntries([...ids].map((id) => [String(id), {}])) },
    ]),
    pipeline: [],
  };

  function vector(words: readonly string[]): number[] {
    const times = new Map<string, number>();
    for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
    const length = K1 * (1 - B + B * (words.length / average));
    return [...times]
      .map(([word, count]): [number, number] => {
        const rarity = Math.log(1 + (counts.length - (holders.get(word)?.size ?? 0) + 0.5) / ((holders.get(word)?.size ?? 0) + 0.5));
        return [numbers.get(word) ?? 0, Math.round(((rarity * (K1 + 1) * count) / (length + count)) * 1000) / 1000];
      })
      .sort(([one], [other]) => one - other)
      .flat();
  }
}

/** The indexed words of a text, without surrounding punctuation and stop words. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s-]+/)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}_]+|[^\p{L}\p{N}_]+$/gu, ""))
    .filter((word) => word !== "" && !STOP_WORDS.has(word));
}
