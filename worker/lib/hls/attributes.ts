/** One attribute of a playlist's tag, and where its value is in the tag's list. */
export interface Attribute {
  name: string;
  /** Without its quotes. */
  value: string;
  quoted: boolean;
  from: number;
  to: number;
}

/** Attributes of a tag that are read: each takes many times the memory of its text, of which a playlist may have millions. */
const MAX_ATTRIBUTES = 1_000;

/** The first attributes of a tag's list (RFC 8216bis, 4.2), read once from left to right, however malformed it is. */
export function attributesOf(list: string): Attribute[] {
  const attributes: Attribute[] = [];
  for (let at = 0; at < list.length && attributes.length < MAX_ATTRIBUTES;) {
    const equals = list.indexOf("=", at);
    if (equals < 0) break;
    const quoted = list[equals + 1] === '"';
    const from = equals + (quoted ? 2 : 1);
    const to = indexOr(list, quoted ? '"' : ",", from);
    attributes.push({ name: list.slice(at, equals).trim(), value: list.slice(from, to), quoted, from, to });
    at = quoted ? indexOr(list, ",", to) + 1 : to + 1;
  }
  return attributes;
}

/** A quoted string has neither quotes nor line breaks. */
export function quotedString(text: string): string {
  return `"${text.replace(/["\r\n]/g, " ")}"`;
}

function indexOr(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index < 0 ? text.length : index;
}
