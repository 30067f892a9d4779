/** English stop words. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an and are as at be but by can did do does for from had has have how i if in into is it its let me my no nor not of on or our " +
    "say should so some than that the their them then there these they this to too us was we were what when where which who why will " +
    "with would you your"
  ).split(" "),
);

/** The words of a query: split on white space and hyphens, in lower case, without stop words. */
export function tokens(query: string): string[] {
  const words = query.toLowerCase().match(/[^\s-]+/g) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word));
}

/** Whether a text contains a form of a word, that is its first three fifths, regardless of punctuation. */
export function containsWord(text: string, word: string): boolean {
  const plain = (part: string): string => part.toLowerCase().replaceAll(/[^\p{L}\p{N}_\s]/gu, "");
  const stem = plain(word);
  return plain(text).includes(stem.slice(0, Math.ceil(stem.length * 0.6)));
}

/** A title of at most about `limit` characters: a longer one is cut around the first word of the query. */
export function cutTitle(title: string, words: readonly string[], limit = 50): string {
  if (title.length <= limit) return title;
  const lower = title.toLowerCase();
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = found.length > 0 ? Math.min(...found) : 0;
  const start = Math.max(0, Math.min(first - Math.floor(limit / 3), title.length - limit));
  const end = start + limit;
  return `${start > 0 ? "…" : ""}${title.slice(start, end).trim()}${end < title.length ? "…" : ""}`;
}
