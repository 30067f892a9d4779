// Letters as lines on a grid of 4 by 6, so that the video doesn't depend on the fonts of a machine.

const GLYPHS: Record<string, string> = {
  A: "M0 6V2L2 0L4 2V6M0 4H4",
  B: "M0 0H3L4 1V2L3 3H0M3 3L4 4V5L3 6H0V0",
  C: "M4 1L3 0H1L0 1V5L1 6H3L4 5",
  D: "M0 0H3L4 1V5L3 6H0Z",
  E: "M4 0H0V6H4M0 3H3",
  F: "M4 0H0V6M0 3H3",
  G: "M4 1L3 0H1L0 1V5L1 6H3L4 5V3H2.4",
  H: "M0 0V6M4 0V6M0 3H4",
  I: "M2 0V6",
  K: "M0 0V6M4 0L0 3.4L4 6",
  L: "M0 0V6H4",
  M: "M0 6V0L2 2.6L4 0V6",
  N: "M0 6V0L4 6V0",
  O: "M1 0H3L4 1V5L3 6H1L0 5V1Z",
  R: "M0 6V0H3L4 1V2L3 3H0M2 3L4 6",
  S: "M4 1L3 0H1L0 1V2L1 3H3L4 4V5L3 6H1L0 5",
  T: "M0 0H4M2 0V6",
  U: "M0 0V5L1 6H3L4 5V0",
  V: "M0 0L2 6L4 0",
  Y: "M0 0L2 3L4 0M2 3V6",
  "0": "M1 0H3L4 1V5L3 6H1L0 5V1Z",
  "1": "M1 1L2.4 0V6",
  "2": "M0 1L1 0H3L4 1V2L0 6H4",
  "3": "M0 0H4L2 2.4H3L4 3.4V5L3 6H1L0 5",
  "4": "M3 6V0L0 4H4",
  "5": "M4 0H0V2.6H3L4 3.6V5L3 6H0",
  "6": "M4 0H2L0 2V5L1 6H3L4 5V4L3 3H0",
  "7": "M0 0H4L1.6 6",
  "8": "M1 0H3L4 1V2L3 3H1L0 2V1ZM1 3L0 4V5L1 6H3L4 5V4L3 3",
  "9": "M0 6H2L4 4V1L3 0H1L0 1V2L1 3H4",
  ":": "M2 1.8V2M2 4.2V4.4",
  ".": "M2 5.9V6",
  "'": "M2 0V1.4",
  "-": "M0.6 3H3.4",
  "!": "M2 0V4M2 5.9V6",
};
const ADVANCE = 5.6;
const NARROW: Record<string, number> = { I: 3, "1": 4.4, ":": 3, ".": 3, "'": 3, " ": 3.4, "!": 3 };

/** A text as SVG, of letters `height` pixels high. */
export function lettering(text: string, place: { x: number; y: number; height: number; colour: string; middle?: boolean }): string {
  const unit = place.height / 6;
  const start = place.middle === true ? place.x - (widthOf(text) * unit) / 2 : place.x;
  let offset = 0;
  const letters = [...text].map((letter) => {
    const advance = NARROW[letter] ?? ADVANCE;
    const column = start + (offset + (advance - ADVANCE) / 2) * unit;
    offset += advance;
    return `<path transform="translate(${column.toFixed(2)} ${place.y}) scale(${unit.toFixed(4)})" d="${GLYPHS[letter] ?? ""}"/>`;
  });
  return `<g fill="none" stroke="${place.colour}" stroke-width="1.05" stroke-linecap="round" stroke-linejoin="round">${letters.join("")}</g>`;
}

function widthOf(text: string): number {
  return [...text].reduce((sum, letter) => sum + (NARROW[letter] ?? ADVANCE), 0) - (ADVANCE - 4);
}
