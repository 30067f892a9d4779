/** The minimum contrast of text (WCAG 2.2, success criterion 1.4.3, level AA). */
export const TEXT_CONTRAST = 4.5;

/** The contrast ratio of two colours (`#rgb` or `#rrggbb`), from 1 to 21 (WCAG 2.2). */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(hex).map((channel) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channelsOf(hex: string): number[] {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : (hex.slice(1).match(/../g) ?? []);
  return digits.map((pair) => Number.parseInt(pair, 16) / 255);
}
