import { LinkifyIt } from "linkify-it";
import { ZERO_WIDTH } from "./text.ts";

/** What a masked link becomes. */
export const LINK_MASK = "[link]";

/** Common generic domains beyond the library's own, which include all of two letters. */
const TLDS = [
  ...["app", "art", "bet", "blog", "cam", "casino", "chat", "club", "dev", "fun", "game", "games", "gift", "girls", "icu", "int", "link"],
  ...["live", "ltd", "media", "mobi", "news", "one", "online", "page", "porn", "poker", "sale", "sex", "site", "social", "space", "store"],
  ...["stream", "tech", "tips", "today", "tube", "video", "vip", "website", "wiki", "win", "work", "world", "xyz", "zone"],
];

const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, fuzzyIP: true }).tlds(TLDS, true);

const EMOJI = /\p{Extended_Pictographic}/u;

/** Text with the index in the source of each of its UTF-16 units. */
interface Variant {
  text: string;
  sources: number[];
}

/**
 * Replaces links, bare domains and email addresses, also those disguised by invisible characters, by spaces before a dot ("example . com"),
 * by a spelled-out dot ("example (dot) com") or by spaces between all letters ("e x a m p l e . c o m").
 */
export function maskLinks(text: string): string {
  const plain = withoutInvisible(text);
  const masked = new Array<boolean>(text.length).fill(false);
  for (const variant of [plain, withoutSpaces(plain, SPACED_DOT), withoutSpaces(plain, SPELLED_OUT)]) {
    for (const { index, lastIndex } of linkify.match(variant.text) ?? []) {
      const from = variant.sources[index] ?? 0;
      const to = (variant.sources[lastIndex - 1] ?? text.length - 1) + 1;
      masked.fill(true, from, to);
    }
  }
  return replaceRuns(text, masked);
}

function withoutInvisible(text: string): Variant {
  const variant: Variant = { text: "", sources: [] };
  let index = 0;
  for (const character of text) {
    // An emoji ends a word, which the library doesn't know.
    if (!ZERO_WIDTH.test(character)) append(variant, EMOJI.test(character) ? " ".repeat(character.length) : character, index);
    index += character.length;
  }
  return variant;
}

/** A dot with spaces before it, which punctuation doesn't have, or a dot in words; likewise the parts of "https : //". */
const SPACED_DOT =
  /[ \t]*[([{][ \t]*(?:dot|\.)[ \t]*[)\]}][ \t]*|[ \t]+\.[ \t]*(?=[\p{L}\p{N}])|[ \t]+dot[ \t]+(?=[a-z]{2,6}\b)|(?<=\bhttps?)[ \t]*:[ \t]*\/[ \t]*\/[ \t]*/giu;

/** Single characters with one space between each two of them: at least three. */
const SPELLED_OUT = /(?<![^ \t])[^ \t](?:[ \t][^ \t]){2,}(?![^ \t])/gu;

/** Removes the spaces within each match, and writes a spelled-out dot as one. */
function withoutSpaces({ text, sources }: Variant, pattern: RegExp): Variant {
  const variant: Variant = { text: "", sources: [] };
  let from = 0;
  const copy = (to: number) => {
    for (; from < to; from++) append(variant, text.charAt(from), sources[from] ?? 0);
  };
  for (const match of text.matchAll(pattern)) {
    copy(match.index);
    const compact = match[0].replace(/[ \t([{)\]}]/g, "").replace(/^dot$/i, ".");
    for (const character of compact) append(variant, character, sources[match.index] ?? 0);
    from = match.index + match[0].length;
    // Where the match ends, so that a link that ends within it is masked up to there.
    if (compact.length > 1 && variant.sources.length > 0) variant.sources[variant.sources.length - 1] = sources[from - 1] ?? 0;
  }
  copy(text.length);
  return variant;
}

function append(variant: Variant, character: string, source: number): void {
  variant.text += character;
  for (let unit = 0; unit < character.length; unit++) variant.sources.push(source + unit);
}

function replaceRuns(text: string, masked: boolean[]): string {
  let result = "";
  for (let index = 0; index < text.length; index++) {
    if (!masked[index]) result += text.charAt(index);
    else if (!masked[index - 1]) result += LINK_MASK;
  }
  return result;
}
