/** Base of the numbers in an index: one or two characters for most. */
const BASE = 36;

/**
 * An inverted index of documents' words: each entry is a word and the documents that contain it, as distances from one to the
 * next, separated by spaces. A third smaller than the words per document.
 */
export function encodeWords(documents: readonly (readonly string[])[]): string[] {
  const found = new Map<string, number[]>();
  for (const [at, words] of documents.entries()) {
    for (const word of new Set(words)) found.set(word, [...(found.get(word) ?? []), at]);
  }
  return [...found]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([word, all]) => [word, ...all.map((at, index) => (at - (all[index - 1] ?? 0)).toString(BASE))].join(" "));
}

/** The words of each of `count` documents, from their index. */
export function decodeWords(index: readonly string[], count: number): string[][] {
  const documents = Array.from({ length: count }, (): string[] => []);
  for (const entry of index) {
    const [word = "", ...distances] = entry.split(" ");
    let at = 0;
    for (const distance of distances) documents[(at += parseInt(distance, BASE))]?.push(word);
  }
  return documents;
}
