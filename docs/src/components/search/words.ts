import { STOP_WORDS } from "./query.ts";

const COMPOUND = /[\p{L}\p{N}]+(?:_+[\p{L}\p{N}]+)*/gu;
const PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[^\p{L}\p{N}_]+/gu;

/** A header or an event: `Retry-After`, `overlay.show`. */
const NAME = /(?<![\p{L}\d./-])(?:\p{Lu}[\p{L}\d]*(?:-\p{Lu}[\p{L}\d]*)+|\p{Ll}+(?:\.\p{L}{2,})+)(?![\p{L}\d/-])/gu;

/**
 * The searchable words of a text, stemmed: `redirectUri`, `already_answered`, `Retry-After` and `overlay.show` count as a whole
 * and by their parts. Stop words are omitted.
 */
export function terms(text: string): string[] {
  const words = wordsIn(text).flatMap((word) => {
    const parts = word.match(PARTS) ?? [];
    return parts.length > 1 ? [word, ...parts] : [word];
  });
  const stems = words
    .map((word) => word.toLowerCase())
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
  return [...stems, ...namesIn(text).map(({ joined }) => joined)];
}

/** The names in a text that its words are parts of: `overlay.show` as `overlayshow`, with `overlay` and `show`. */
export function namesIn(text: string): { joined: string; parts: string[] }[] {
  if (!/[.-]/.test(text)) return [];
  return (text.match(NAME) ?? []).map((name) => ({
    joined: stem(name.replaceAll(/[.-]/g, "").toLowerCase()),
    parts: name.toLowerCase().split(/[.-]/).map(stem),
  }));
}

/** The words of a text as written, without punctuation and possessive endings. */
export function wordsIn(text: string): string[] {
  return text.replaceAll(/['’](s|re|ve|ll|d|t|m)\b/gi, "").match(COMPOUND) ?? [];
}

/** The common form of a word's inflections: `polls` and `poll`, `authenticate` and `authentication`. Not always a word. */
export function stem(word: string): string {
  const known = stems.get(word) ?? computeStem(word);
  stems.set(word, known);
  return known;
}

/** Building an index stems the same words many times. */
const stems = new Map<string, string>();

function computeStem(word: string): string {
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

/** Words that frame a question and say little about its subject, though titles may contain them. */
const FILLERS = new Set(
  (
    "about actual actually after again all allow allows already also always another any anybody anyone anything available back because " +
    "been before being best better between both certain come could correct correctly currently day different difference during each " +
    "easy easily either else enough ever every everybody everyone everything exact exactly example explain few find first force get " +
    "gets getting give given go goes going good got great happen happens having help here inside instead isn't just keep know known " +
    "last later least less like little long look looking lot made make makes making many matter may maybe mean means might more most " +
    "much must necessary need needed needs never new next nobody nothing now number often old once one only onto other others ought out " +
    "own part people per person please possible possibly problem proper properly put quickly really recommended right same see seem " +
    "several shall show simple simply single somebody somehow someone something sometimes soon still such sure take tell thing things " +
    "think through try trying two until use used useful user's uses using usually various very want wants way ways well whether while " +
    "whole whose within without won't work working works"
  )
    .split(" ")
    .map(stem),
);

/** Whether a stemmed word only frames a question. */
export function isFiller(word: string): boolean {
  return FILLERS.has(word);
}
