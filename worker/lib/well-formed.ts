// Half of a surrogate pair isn't a character. JSON can express one, but many parsers reject what contains it (RFC 8259, 8.2), so one
// such text would make a whole list unreadable for them.

const SURROGATE = /\\u[dD][89a-fA-F]/;
/** A pair of surrogates, a single one, or any other escape: read in order, because a backslash may itself be escaped. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g;
const SINGLE = "\\ud800".length;

/** JSON in which U+FFFD has replaced each unpaired surrogate, as decoding does with what isn't UTF-8. */
export function wellFormedJson(text: string): string {
  return SURROGATE.test(text) ? text.replace(ESCAPE, (escape) => (escape.length === SINGLE ? "\\ufffd" : escape)) : text;
}

/** The beginning of a text, at most `length` UTF-16 units, that doesn't end with half a character. */
export function clip(text: string, length: number): string {
  const end = text.slice(0, length);
  return text.length > length && /[\ud800-\udbff]$/.test(end) ? end.slice(0, -1) : end;
}
