/** What a template may have; each is refused with the place where it is passed. */
const TEMPLATE_LIMITS = { size: 64 * 1024, tags: 500, tagLength: 300, depth: 16 } as const;

/** Why a template is refused: while reading it `line` and `column` (from 1) say where, while filling it the limit that was passed. */
export class TemplateError extends Error {
  constructor(message: string, place?: { line: number; column: number }) {
    super(place ? `Line ${place.line}, column ${place.column}: ${message}` : message);
  }
}

const COMMENT = /\{\{~?!(?:--[^]*?--~?|(?!--)[^]*?)\}\}/y;
const COMMENT_START = /\{\{~?!/y;
// What is beyond this is beyond our subset (strings, calls in calls, literal segments), and some of it takes the parser minutes.
const FOREIGN = /[^\w\s@./$~#^&{>*|=-]/;
const TAG = /^\{?~?([#^/]?)\s*(\w*)(\s+\w)?/;

/**
 * Goes once over the text and refuses what is too much of anything, before the parser sees it: its time rises with the square of
 * nesting. Whatever passes is parsed within milliseconds.
 */
export function scanTemplate(source: string): void {
  if (source.length > TEMPLATE_LIMITS.size) throw new TemplateError(`A template has at most ${TEMPLATE_LIMITS.size} characters`);
  // One entry for each open block: how many levels it adds; `else if` chains are nested inside.
  const blocks: number[] = [];
  let tags = 0;
  for (let at = source.indexOf("{{"); at >= 0;) {
    if (isEscaped(source, at)) {
      at = source.indexOf("{{", at + 2);
      continue;
    }
    tags += 1;
    if (tags > TEMPLATE_LIMITS.tags) throw refusal(source, at, `A template has at most ${TEMPLATE_LIMITS.tags} tags`);
    const end = commentEnd(source, at) ?? tagEnd(source, at, blocks);
    if (blocks.reduce((sum, levels) => sum + levels, 0) > TEMPLATE_LIMITS.depth) {
      throw refusal(source, at, `Blocks nest at most ${TEMPLATE_LIMITS.depth} deep`);
    }
    at = source.indexOf("{{", end);
  }
}

/** `\{{` is text, `\\{{` a backslash and a tag. */
function isEscaped(source: string, at: number): boolean {
  return source[at - 1] === "\\" && source[at - 2] !== "\\";
}

function commentEnd(source: string, at: number): number | undefined {
  COMMENT_START.lastIndex = at;
  if (!COMMENT_START.test(source)) return undefined;
  COMMENT.lastIndex = at;
  if (!COMMENT.test(source)) throw refusal(source, at, "This comment is not closed");
  return COMMENT.lastIndex;
}

function tagEnd(source: string, at: number, blocks: number[]): number {
  const end = source.indexOf("}}", at);
  if (end < 0) throw refusal(source, at, "This tag is not closed");
  if (end - at > TEMPLATE_LIMITS.tagLength) throw refusal(source, at, `A tag has at most ${TEMPLATE_LIMITS.tagLength} characters`);
  const inner = source.slice(at + 2, end);
  const foreign = inner.startsWith("{{") ? 0 : inner.search(FOREIGN);
  if (foreign >= 0) throw refusal(source, at + 2 + foreign, `"${inner.charAt(foreign)}" is not supported in a tag`);
  const [, sign = "", name = "", argument] = TAG.exec(inner) ?? [];
  if (sign === "/") blocks.pop();
  else if (sign === "#" || (sign === "^" && name !== "")) blocks.push(1);
  else if (name === "else" && argument !== undefined) blocks.push((blocks.pop() ?? 0) + 1);
  return end + 2;
}

function refusal(source: string, offset: number, message: string): TemplateError {
  const before = source.slice(0, offset);
  return new TemplateError(message, { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") });
}
