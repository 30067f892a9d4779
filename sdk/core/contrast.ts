/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];
/** What WCAG 2.2 (1.4.3) asks of text. */
const READABLE = 4.5;
const STEPS = 10;

/** `#rgb` or `#rrggbb`, as the API checks themes. */
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

/** The first colour with `share` (0 to 1) of the second in it. */
export function mix(color: Rgb, other: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => color[index] * (1 - share) + other[index] * share;
  return [part(0), part(1), part(2)];
}

/** 1 to 21, as WCAG 2.2 defines it. */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05);
}

/** Black or white, whichever is easier to read on it. */
export function textOn(background: Rgb): Rgb {
  return contrast(WHITE, background) >= contrast(BLACK, background) ? WHITE : BLACK;
}

/** The background, brought so far towards another, which carries the text, that it carries it too. */
export function readableBackground(text: Rgb, background: Rgb, other: Rgb): Rgb {
  return firstThat((candidate) => contrast(text, candidate) >= READABLE, background, other);
}

/** The colour, brought so far towards black or white that it can be read on each of the backgrounds. */
export function readableOn(color: Rgb, backgrounds: readonly Rgb[]): Rgb {
  const least = (candidate: Rgb) => Math.min(...backgrounds.map((background) => contrast(candidate, background)));
  return firstThat((candidate) => least(candidate) >= READABLE, color, least(WHITE) >= least(BLACK) ? WHITE : BLACK);
}

/** On the way from a colour to another the first that is good, or the other. */
function firstThat(isGood: (candidate: Rgb) => boolean, color: Rgb, other: Rgb): Rgb {
  for (let step = 0; step < STEPS; step++) {
    const candidate = rounded(mix(color, other, step / STEPS));
    if (isGood(candidate)) return candidate;
  }
  return other;
}

function rounded([red, green, blue]: Rgb): Rgb {
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
