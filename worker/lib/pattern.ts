// How much work a regular expression can make. V8 tries every way in which one can match, and a text may offer very many.

/** Of a text that is held against a pattern, and of a pattern, in characters. */
export const LONGEST_TEXT = 256;
const LONGEST_PATTERN = 500;
/** At most so many ways, as a power of two: of three repetitions without end. */
const ENDLESS_BITS = Math.log2(LONGEST_TEXT);
const MOST_BITS = 3 * ENDLESS_BITS;

/** `bits`: the ways to match, as a power of two; `choices`: places that have more than one; `singles`: what takes one character each. */
interface Part {
  bits: number;
  choices: number;
  singles: string[];
  /** Its first character, where that is always the same. */
  opens: string | undefined;
  isAnchored: boolean;
}

/** Whether this is a regular expression that is matched in little time, whatever the text of at most 256 characters. Refuses some that would be. */
export function isTamePattern(source: string): boolean {
  if (source.length > LONGEST_PATTERN || !isPattern(source)) return false;
  const { bits, isAnchored } = new Reader(source).alternatives();
  // Without an anchor, each character may be where the match begins.
  return bits + (isAnchored ? 0 : ENDLESS_BITS) < MOST_BITS + 1;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Reads an expression of which the language has said that it is one. */
class Reader {
  private readonly source: string;
  private at = 0;

  constructor(source: string) {
    this.source = source;
  }

  alternatives(): Part {
    const branches = [this.sequence()];
    while (this.take(/\|/y) !== undefined) branches.push(this.sequence());
    const [first] = branches;
    if (first && branches.length === 1) return first;
    return {
      bits: Math.max(...branches.map(({ bits }) => bits)) + Math.log2(branches.length),
      choices: 1 + branches.reduce((sum, { choices }) => sum + choices, 0),
      singles: branches.flatMap(({ singles }) => singles),
      opens: undefined,
      isAnchored: branches.every((branch) => branch.isAnchored),
    };
  }

  private sequence(): Part {
    const parts: Part[] = [];
    while (this.at < this.source.length && !/[|)]/.test(this.source.charAt(this.at))) parts.push(this.repeated());
    return {
      bits: parts.reduce((sum, { bits }) => sum + bits, 0),
      choices: parts.reduce((sum, { choices }) => sum + choices, 0),
      singles: parts.flatMap(({ singles }) => singles),
      opens: parts[0]?.opens,
      isAnchored: parts[0]?.isAnchored ?? false,
    };
  }

  private repeated(): Part {
    const opening = this.take(/\((\?(<?[=!]|<[^>]*>|[\w-]*:))?/y);
    const part = opening === undefined ? this.single() : this.group(opening);
    const quantifier = this.take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    return quantifier === undefined ? part : repeat(part, ...limitsOf(quantifier));
  }

  private group(opening: string): Part {
    const part = this.alternatives();
    this.at += 1;
    return { ...part, isAnchored: part.isAnchored && opening === "(" };
  }

  private single(): Part {
    // What has matched before makes a match depend on all that came earlier.
    if (this.take(/\\(?:[1-9]|k<)/y) !== undefined) return { bits: Infinity, choices: 1, singles: [], opens: undefined, isAnchored: false };
    const text = this.take(/\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\c.|\\.|./isuy) ?? "";
    const isFixed = /^(?:[^\\[.^$]|\\[^\w])$/u.test(text);
    return { bits: 0, choices: 0, singles: [text], opens: isFixed ? text.replace("\\", "") : undefined, isAnchored: text === "^" };
  }

  private take(what: RegExp): string | undefined {
    what.lastIndex = this.at;
    const text = what.exec(this.source)?.[0];
    this.at += text?.length ?? 0;
    return text;
  }
}

function limitsOf(quantifier: string): [least: number, most: number] {
  if (quantifier.startsWith("?")) return [0, 1];
  const [, least = "0", comma, most] = /^\{(\d+)(,)?(\d+)?/.exec(quantifier) ?? [undefined, "0", ","];
  return [Number(least), most === undefined ? (comma === undefined ? Number(least) : Infinity) : Number(most)];
}

function repeat(part: Part, least: number, most: number): Part {
  const isChoice = least !== most;
  const choices = part.choices + (isChoice ? 1 : 0);
  const opens = isChoice ? undefined : part.opens;
  const isAnchored = part.isAnchored && least > 0;
  if (most === Infinity) return { ...part, bits: part.bits + (isEvident(part) ? ENDLESS_BITS : Infinity), choices, opens, isAnchored };
  return { ...part, bits: part.bits * most + Math.log2(most - least + 1), choices, opens, isAnchored };
}

/** Whether a text shows where each repetition of a part ends: nothing in it is open, or one thing is and a sign stands before it. */
function isEvident({ choices, singles, opens }: Part): boolean {
  if (choices === 0) return true;
  if (choices > 1 || opens === undefined) return false;
  return singles.slice(1).every((single) => /^[$^]|^\\b$/i.test(single) || !new RegExp(`^${single}$`, "u").test(opens));
}
