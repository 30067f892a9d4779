// A stand of raised cards, seen from the pitch. A row is an arc whose dashes are the cards; some of them spell the name Tifo.

const COLUMNS = 52;
const ROWS = 13;
const WORD_TOP = 3;
const CENTRE = { x: 400, y: 1330 };
const INNER_RADIUS = 1030;
const ROW_DEPTH = 21;
/** Radians from the first card of a row to the last. */
const SPREAD = 0.66;
/** The fraction of its slot that a card fills. */
const FILL = 0.8;
export const TONES = 6;

const LETTERS: Record<string, string[]> = {
  T: ["######", "######", "..##..", "..##..", "..##..", "..##..", "..##.."],
  I: ["##", "##", "##", "##", "##", "##", "##"],
  F: ["#####", "#####", "##...", "####.", "####.", "##...", "##..."],
  O: [".####.", "######", "##..##", "##..##", "##..##", "######", ".####."],
};

/** One row of the stand, for SVG paths of `pathLength` cards. */
export interface Row {
  /** The arc as the `d` of a path. */
  arc: string;
  /** Where the pattern of tones starts, in cards. */
  shift: number;
  /** The cards of the name as a `stroke-dasharray`, if this row has any. */
  word: string | undefined;
}

export const wall = { width: 800, height: 352, cards: COLUMNS, depth: ROW_DEPTH * FILL, fill: FILL } as const;

/** The rows of the stand from the top. Deterministic, so that builds are reproducible. */
export function rows(): Row[] {
  const word = bitmap("TIFO");
  return Array.from({ length: ROWS }, (_, row) => {
    const letters = word[row - WORD_TOP];
    return { arc: arc(row), shift: (row * 5 + (row % 3) * 2) % TONES, word: letters === undefined ? undefined : dashes(letters) };
  });
}

/** The rows of `word` as one bitmap, two cards between letters. */
function bitmap(word: string): string[] {
  const letters = [...word].map((letter) => LETTERS[letter] ?? []);
  return Array.from({ length: 7 }, (_, row) => letters.map((letter) => letter[row] ?? "").join(".."));
}

function arc(row: number): string {
  const radius = INNER_RADIUS + (ROWS - row - 0.5) * ROW_DEPTH;
  const x = radius * Math.sin(SPREAD / 2);
  const y = CENTRE.y - radius * Math.cos(SPREAD / 2);
  return `M${(CENTRE.x - x).toFixed(1)} ${y.toFixed(1)}A${radius} ${radius} 0 0 1 ${(CENTRE.x + x).toFixed(1)} ${y.toFixed(1)}`;
}

/** Alternating lengths of dashes and gaps: an empty first dash, the gap before the first card, then each card. */
function dashes(letters: string): string {
  const lengths = [0, Math.floor((COLUMNS - letters.length) / 2)];
  for (const letter of letters) {
    if (letter === "#") lengths.push(FILL, 1 - FILL);
    else lengths.push(0, 1);
  }
  return [...lengths, 0, COLUMNS].map((length) => Number(length.toFixed(1))).join(" ");
}
