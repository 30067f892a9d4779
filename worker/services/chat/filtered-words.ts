import { ZERO_WIDTH } from "./text.ts";

const IGNORED = /\p{M}/u;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** Text without case, accents and zero-width characters, with the index in the source of each character. */
interface Folded {
  characters: string[];
  sources: number[];
}

/** A chat's filtered words, prepared for any number of messages. */
export interface WordFilter {
  words: ReadonlySet<string>;
  /** Entries that contain punctuation, each as its folded characters. */
  phrases: readonly string[][];
}

/** Reads the lists of a channel's chat panels, each separated by spaces. */
export function wordFilterOf(lists: string[]): WordFilter {
  const entries = lists.flatMap((list) => list.split(/\s+/)).map((entry) => fold([...entry]).characters);
  const filled = entries.filter((entry) => entry.length > 0);
  return {
    words: new Set(filled.filter(isWord).map((entry) => entry.join(""))),
    phrases: filled.filter((entry) => !isWord(entry)),
  };
}

/** Replaces each letter of a filtered word by an asterisk. Only whole words match; case, accents and zero-width characters are ignored. */
export function maskWords(text: string, { words, phrases }: WordFilter): string {
  if (words.size === 0 && phrases.length === 0) return text;
  const source = [...text];
  const folded = fold(source);
  const masked = new Set<number>();
  const mask = (from: number, to: number) => {
    const last = (folded.sources[to] ?? source.length) - 1;
    for (let index = folded.sources[from] ?? 0; index <= last; index++) masked.add(index);
  };
  for (const [from, to] of wordsOf(folded.characters)) if (words.has(folded.characters.slice(from, to).join(""))) mask(from, to);
  for (const phrase of phrases) for (const from of occurrences(folded.characters, phrase)) mask(from, from + phrase.length);
  if (masked.size === 0) return text;
  return source.map((character, index) => (masked.has(index) ? asterisk(character) : character)).join("");
}

/** Marks and zero-width characters inside a masked word vanish with the letter that they belong to. */
function asterisk(character: string): string {
  return isIgnored(character) ? "" : WORD_CHARACTER.test(character) ? "*" : character;
}

function fold(source: string[]): Folded {
  const folded: Folded = { characters: [], sources: [] };
  for (const [index, character] of source.entries()) {
    if (isIgnored(character)) continue;
    for (const part of character.toLowerCase().normalize("NFKD")) {
      if (isIgnored(part)) continue;
      folded.characters.push(part);
      folded.sources.push(index);
    }
  }
  return folded;
}

function isIgnored(character: string): boolean {
  return IGNORED.test(character) || ZERO_WIDTH.test(character);
}

function isWord(characters: string[]): boolean {
  return characters.every((character) => WORD_CHARACTER.test(character));
}

/** The runs of letters and digits. */
function* wordsOf(characters: string[]): Generator<[from: number, to: number]> {
  let from = -1;
  for (let index = 0; index <= characters.length; index++) {
    const inWord = index < characters.length && WORD_CHARACTER.test(characters[index] ?? "");
    if (inWord && from < 0) from = index;
    if (!inWord && from >= 0) {
      yield [from, index];
      from = -1;
    }
  }
}

/** Where a phrase occurs as a whole: letters and digits at its ends don't continue outside of it. */
function* occurrences(characters: string[], phrase: string[]): Generator<number> {
  for (let from = 0; from + phrase.length <= characters.length; from++) {
    if (!phrase.every((character, offset) => characters[from + offset] === character)) continue;
    if (!continues(characters[from - 1], phrase[0]) && !continues(phrase.at(-1), characters[from + phrase.length])) yield from;
  }
}

function continues(one: string | undefined, next: string | undefined): boolean {
  return one !== undefined && next !== undefined && WORD_CHARACTER.test(one) && WORD_CHARACTER.test(next);
}
