export type PartKind = "text" | "tag" | "attribute" | "value" | "comment" | "variable";

export interface Part {
  kind: PartKind;
  text: string;
}

const COMMENT = /<!--[\s\S]*?(?:-->|$)/y;
const TAG_START = /<\/?[A-Za-z][\w-]*/y;
const TAG_END = /\/?>/y;
const VARIABLE = /\{\{\{?[^{}]*\}\}\}?/y;
const ATTRIBUTE = /[^\s=>"'/{<]+/y;
const TEXT = /[^<{]+/y;
const SPACE = /[\s=/]+/y;

/** Html in coloured parts, which together are the text. A sketch, good for colours only: nothing relies on it. */
export function highlighted(html: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let isInTag = false;
  let quote = "";
  const add = (kind: PartKind, text: string): void => {
    const last = parts.at(-1);
    if (last?.kind === kind && kind !== "variable") last.text += text;
    else parts.push({ kind, text });
    at += text.length;
  };
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(html)?.[0] ?? null;
  };
  while (at < html.length) {
    const variable = match(VARIABLE);
    if (variable !== null) add("variable", variable);
    else if (quote !== "") {
      const character = html.charAt(at);
      if (character === quote) quote = "";
      add("value", character);
    } else if (isInTag) {
      const end = match(TAG_END);
      const attribute = match(ATTRIBUTE);
      const space = match(SPACE);
      if (end !== null) {
        isInTag = false;
        add("tag", end);
      } else if (html.charAt(at) === '"' || html.charAt(at) === "'") {
        quote = html.charAt(at);
        add("value", quote);
      } else if (space !== null) add("text", space);
      else if (attribute !== null) add("attribute", attribute);
      else add("text", html.charAt(at));
    } else {
      const comment = match(COMMENT);
      const tag = match(TAG_START);
      if (comment !== null) add("comment", comment);
      else if (tag !== null) {
        isInTag = true;
        add("tag", tag);
      } else add("text", match(TEXT) ?? html.charAt(at));
    }
  }
  return parts;
}
