import unhomoglyph from "unhomoglyph";
import { ZERO_WIDTH } from "./text.ts";

/** Names that only the site itself and its staff may have, in any language's letters. */
const RESERVED = ["system", "admin", "administrator", "mod", "moderator", "staff", "support", "official"];

const INVISIBLE = /[\p{M}\p{P}\p{S}\p{Z}\p{C}\s\u115f\u1160]/u;

/**
 * What a name looks like, with its own capitals and without: names that share a look can be mistaken for each other (confusables of UTS #39,
 * plus i, l and 1, and o and 0).
 */
function looksOf(name: string): string[] {
  const letters = [...name.normalize("NFKD")].filter((character) => !INVISIBLE.test(character) && !ZERO_WIDTH.test(character)).join("");
  const looks = [letters, letters.toLowerCase()].map((text) => unhomoglyph(text).toLowerCase().replace(/[i1]/g, "l").replaceAll("0", "o"));
  return looks.filter((look) => look !== "");
}

/** The looks of the names that viewers may not use: of the site's own messages, of its staff, and those that sound like either. */
export function protectedLooks(names: string[]): ReadonlySet<string> {
  return new Set([...RESERVED, ...names].flatMap(looksOf));
}

/** The name shown with a viewer's messages: a neutral one if the account's own imitates the site or its staff, or can't be seen. */
export function shownName(account: { id: string; name: string }, looks: ReadonlySet<string>): string {
  const own = looksOf(account.name);
  return own.length === 0 || own.some((look) => looks.has(look)) ? `Viewer ${account.id.slice(-6)}` : account.name;
}
