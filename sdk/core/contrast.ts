/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
/** Minimum contrast of text according to WCAG 2.2 (1.4.3). */
const READABLE = 4.5;
const STEPS = 10;

/** Parses `#rgb` or `#rrggbb`; the API accepts only these in themes. */
export function parseColor(text: string): Rgb {
  const short = text.length === 4;
  const part = (index: number) => {
    const digits = short ? text.charAt(index + 1).repeat(2) : text.slice(1 + index * 2, 3 + index * 2);
    return Number.parseInt(digits, 16);
  };
  return [part(0), part(1), part(2)];
}

export function formatColor(color: Rgb): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** Mixes `share` (0 to 1) of the second colour into the first. */
export function mix(color: Rgb, other: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => color[index] * (1 - share) + other[index] * share;
  return [part(0), part(1), part(2)];
}

/** Contrast ratio from 1 to 21, as defined by WCAG 2.2. */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05);
}

/** Black or white, whichever has more contrast with the background. */
export function textOn(background: Rgb): Rgb {
  return contrast(WHITE, background) >= contrast(BLACK, background) ? WHITE : BLACK;
}

/** Shifts the background towards `other`, on which the text is readable, until the text is readable on it. */
export function readableBackground(text: Rgb, background: Rgb, other: Rgb): Rgb {
  return firstBetween((candidate) => contrast(text, candidate) >= READABLE, background, other);
}

/** Shifts the colour towards black or white until it is readable on each of the backgrounds. */
export function readableOn(color: Rgb, backgrounds: readonly Rgb[]): Rgb {
  const lowest = (candidate: Rgb) => Math.min(...backgrounds.map((background) => contrast(candidate, background)));
  return firstBetween((candidate) => lowest(candidate) >= READABLE, color, lowest(WHITE) >= lowest(BLACK) ? WHITE : BLACK);
}

/** The first acceptable colour between `color` and `other`, or `other`. */
function firstBetween(isAcceptable: (candidate: Rgb) => boolean, color: Rgb, other: Rgb): Rgb {
  for (let step = 0; step < STEPS; step++) {
    const candidate = round(mix(color, other, step / STEPS));
    if (isAcceptable(candidate)) return candidate;
  }
  return other;
}

function round([red, green, blue]: Rgb): Rgb {
  return [Math.round(red), Math.round(green), Math.round(blue)];
}

function luminance(color: Rgb): number {
  const linear = (part: number) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = color;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
