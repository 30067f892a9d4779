/** Letters that Unicode doesn't decompose, but that people type without their stroke or as two letters. */
const SPELLED: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ς: "σ",
};

/** The marks that are accents. Vowel signs of Indic scripts and the voicing of kana make other letters. */
const ACCENTS = /(?=\p{M})(?![\u3099\u309a])[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Cyrillic}]/gu;

/** A text as it is searched: without case and accents. The database folds alike (`db/search-text.ts`), letter by letter. */
export function foldText(text: string): string {
  let folded = "";
  for (const letter of text) folded += letter < "\u0080" ? letter.toLowerCase() : foldLetter(letter);
  return folded;
}

/** Folds one character: only letters and marks change, and ideographs and syllables, which have neither case nor accents, don't. */
export function foldLetter(letter: string): string {
  if (letter > "\uffff" || letter.length > 1 || !/[\p{L}\p{M}]/u.test(letter) || /[\p{Script=Han}\p{Script=Hangul}]/u.test(letter))
    return letter;
  const plain = letter.normalize("NFKD").replace(ACCENTS, "").toLowerCase();
  return Array.from(plain, (part) => SPELLED[part] ?? part).join("");
}
