// A stand of raised cards, seen from the pitch: rows are arcs, and some cards spell the name.

const COLUMNS = 52;
const ROWS = 13;
const WORD_TOP = 3;
const CENTRE = { x: 400, y: 1330 };
const INNER_RADIUS = 1030;
const ROW_DEPTH = 21;
const SPREAD = 0.66;
const TONES = 6;

const LETTERS: Record<string, string[]> = {
  T: ["######", "######", "..##..", "..##..", "..##..", "..##..", "..##.."],
  I: ["##", "##", "##", "##", "##", "##", "##"],
  F: ["#####", "#####", "##...", "####.", "####.", "##...", "##..."],
  O: [".####.", "######", "##..##", "##..##", "##..##", "######", ".####."],
};

/** Each string is the `d` of one SVG path: `word` holds the cards that spell the name, `tones` the others by shade. */
export interface CardWall {
  width: number;
  height: number;
  word: string;
  tones: string[];
}

/** The rows of `word` as one bitmap, two cards between letters. */
function bitmap(word: string): string[] {
  const letters = [...word].map((letter) => LETTERS[letter] ?? []);
  return Array.from({ length: 7 }, (_, row) => letters.map((letter) => letter[row] ?? "").join(".."));
}

function point(radius: number, angle: number): string {
  return `${(CENTRE.x + radius * Math.sin(angle)).toFixed(1)} ${(CENTRE.y - radius * Math.cos(angle)).toFixed(1)}`;
}

/** One card as a quadrilateral between two radii and two angles. */
function card(row: number, column: number): string {
  const step = SPREAD / COLUMNS;
  const from = -SPREAD / 2 + column * step + step * 0.1;
  const to = from + step * 0.8;
  const outer = INNER_RADIUS + (ROWS - row) * ROW_DEPTH;
  const inner = outer - ROW_DEPTH * 0.78;
  return `M${point(outer, from)}L${point(outer, to)} ${point(inner, to)} ${point(inner, from)}Z`;
}

/** Draws the wall. The same call gives the same wall, so that builds compare. */
export function cardWall(): CardWall {
  const word = bitmap("TIFO");
  const left = Math.floor((COLUMNS - (word[0]?.length ?? 0)) / 2);
  const wall: CardWall = { width: 800, height: 352, word: "", tones: Array.from({ length: TONES }, () => "") };
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      if (word[row - WORD_TOP]?.[column - left] === "#") {
        wall.word += card(row, column);
      } else {
        // A diagonal drift with a little disorder, as people hold cards.
        const tone = (column + 2 * row + ((column * 7 + row * 13) % 3)) % TONES;
        wall.tones[tone] += card(row, column);
      }
    }
  }
  return wall;
}
