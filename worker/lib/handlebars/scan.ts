/** Limits of a template; the error names the position where one is exceeded. `names` are the segments of all paths. */
const LIMITS = { size: 64 * 1024, tags: 500, tagLength: 300, names: 2_000, depth: 16 } as const;

/** Why a template is rejected: with line and column (from 1) when parsing, with the exceeded limit when rendering. */
export class TemplateError extends Error {
  constructor(message: string, place?: { line: number; column: number }) {
    super(place ? `Line ${place.line}, column ${place.column}: ${message}` : message);
  }
}

const COMMENT_START = /\{\{~?!/y;
const COMMENT = /\{\{~?!(?:(?=--)[^]*?--~?|(?!--)[^]*?)\}\}/y;
// Anything else is outside the supported subset (strings, nested calls, literal segments), and some of it takes the parser minutes.
const FOREIGN = /[^\w\s@./$~#^&{>*|=-]/;
const SEPARATOR = /[./]|\s+/;
const TAG = /^\{?~?([#^/]?)\s*(\w*)(\s+\w)?/;

interface Scan {
  source: string;
  tags: number;
  names: number;
  /** One entry for each open block: how many levels it adds; `else if` chains are nested inside. */
  blocks: number[];
}

/**
 * Scans the text once and rejects templates over the limits before the parser runs, whose time is quadratic in nesting. Whatever passes
 * is parsed within milliseconds.
 */
export function scanTemplate(source: string): void {
  if (source.length > LIMITS.size) throw new TemplateError(`A template has at most ${LIMITS.size} characters`);
  const scan: Scan = { source, tags: 0, names: 0, blocks: [] };
  const nul = source.indexOf("\0");
  if (nul >= 0) throw errorAt(scan, nul, "The character U+0000 is not allowed");
  for (let at = source.indexOf("{{"); at >= 0; at = source.indexOf("{{", endOf(scan, at))) {
    scan.tags += 1;
    if (scan.tags > LIMITS.tags) throw errorAt(scan, at, `A template has at most ${LIMITS.tags} tags`);
  }
}

/** Where the text continues after a `{{`. */
function endOf(scan: Scan, at: number): number {
  return isEscaped(scan.source, at) ? at + 2 : (commentEnd(scan, at) ?? tagEnd(scan, at));
}

/** `\{{` is text, `\\{{` a backslash and a tag. */
function isEscaped(source: string, at: number): boolean {
  return source[at - 1] === "\\" && source[at - 2] !== "\\";
}

function commentEnd(scan: Scan, at: number): number | undefined {
  COMMENT_START.lastIndex = at;
  if (!COMMENT_START.test(scan.source)) return undefined;
  COMMENT.lastIndex = at;
  if (!COMMENT.test(scan.source)) throw errorAt(scan, at, "This comment is not closed");
  return COMMENT.lastIndex;
}

function tagEnd(scan: Scan, at: number): number {
  const end = scan.source.indexOf("}}", at);
  if (end < 0) throw errorAt(scan, at, "This tag is not closed");
  if (end - at > LIMITS.tagLength) throw errorAt(scan, at, `A tag has at most ${LIMITS.tagLength} characters`);
  const inner = scan.source.slice(at + 2, end);
  const foreign = inner.startsWith("{{") ? 0 : inner.search(FOREIGN);
  if (foreign >= 0) throw errorAt(scan, at + 2 + foreign, `"${inner.charAt(foreign)}" is not supported in a tag`);
  scan.names += inner.split(SEPARATOR).length;
  if (scan.names > LIMITS.names) throw errorAt(scan, at, `The paths of a template have at most ${LIMITS.names} names`);
  countLevels(scan.blocks, inner);
  if (scan.blocks.reduce((sum, levels) => sum + levels, 0) > LIMITS.depth) {
    throw errorAt(scan, at, `Blocks nest at most ${LIMITS.depth} deep`);
  }
  return end + 2;
}

function countLevels(blocks: number[], tag: string): void {
  const [, sign = "", name = "", argument] = TAG.exec(tag) ?? [];
  if (sign === "/") blocks.pop();
  else if (sign === "#" || (sign === "^" && name !== "")) blocks.push(1);
  else if (name === "else" && argument !== undefined) blocks.push((blocks.pop() ?? 0) + 1);
}

function errorAt({ source }: Scan, offset: number, message: string): TemplateError {
  const before = source.slice(0, offset);
  return new TemplateError(message, { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") });
}
