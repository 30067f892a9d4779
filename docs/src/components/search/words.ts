import { STOP_WORDS } from "./query.ts";

const COMPOUND = /[\p{L}\p{N}_]+/gu;
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[^\p{L}\p{N}_]+/gu;

/**
 * The searchable words of a text, stemmed: `redirectUri` and `already_answered` count as a whole and by their parts.
 * Stop words are omitted.
 */
export function terms(text: string): string[] {
  return wordsIn(text).flatMap((word) => {
    const parts = word.match(PARTS) ?? [];
    const all = parts.length > 1 ? [word, ...parts] : [word];
    return all
      .map((part) => part.toLowerCase())
      .filter((part) => !STOP_WORDS.has(part))
      .map(stem);
  });
}

/** The words of a text as written, without punctuation and possessive endings. */
export function wordsIn(text: string): string[] {
  return text.replaceAll(/['’](s|re|ve|ll|d|t|m)\b/gi, "").match(COMPOUND) ?? [];
}

/** The common form of a word's inflections: `polls` and `poll`, `authenticate` and `authentication`. Not always a word. */
export function stem(word: string): string {
  if (word.length < 4 || /[\d_]/.test(word)) return word;
  return withoutVerbEnding(withoutPlural(word))
    .replace(/(?<=.{5}t)(ion|or|ive)$/, "")
    .replace(/(?<=...)e$/, "");
}

function withoutPlural(word: string): string {
  if (/(?<=..)ies$/.test(word)) return word.replace(/ies$/, "y");
  if (/(ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return /[^suı]s$/.test(word) && !word.endsWith("is") ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  const [, base = "", ending] = /^(.*[aeiouy].*)(ing|(?<!e)ed)$/.exec(word) ?? [];
  if (base.length < (ending === "ing" ? 3 : 4)) return word;
  return base.replace(/([bdgmnprt])\1$/, "$1");
}
