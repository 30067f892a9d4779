import type { EventTheme } from "../model/state.ts";
import { readableBackground, contrast, formatColor, mix, parseColor, readableOn, type Rgb, textOn } from "./contrast.ts";

export type Mode = "light" | "dark";

/** Custom properties of `.tifo` that `tifo.css` uses. Absent ones keep the style sheet's values. */
export type ThemeVariables = Record<`--tifo-${string}`, string>;

// The style sheet's surfaces, which are the background of a theme's colours if the theme is designed for the other mode.
const SURFACES: Record<Mode, { surface: string; raised: string }> = {
  light: { surface: "#ffffff", raised: "#f6f5fb" },
  dark: { surface: "#14121d", raised: "#1f1c2c" },
};
const RADII = { rounded: ["10px", "14px"], square: ["0", "0"], pill: ["99px", "18px"] } as const;
const CASES = { uppercase: "uppercase", lowercase: "lowercase", original: "none" } as const;
// Share of the accent in the bar backgrounds an answer's text.
const TALLY_SHARE = 0.22;
// Minimum contrast of a control's edge according to WCAG 2.2 (1.4.11).
const MIN_EDGE_CONTRAST = 3;

/**
 * The variables of a page's theme, adjusted for readability: text with too little contrast is shifted towards black or white. A theme's
 * surface and text colours apply only in its own mode; its accent, fonts and corners in both.
 */
export function themeVariables(theme: EventTheme | null, mode: Mode): ThemeVariables {
  if (!theme) return {};
  return { ...colors(theme, mode), ...shapes(theme) };
}

function colors({ colors: given, mode: themeMode }: EventTheme, mode: Mode): ThemeVariables {
  const own = themeMode === mode;
  const surface = parseColor((own ? given.surface1 : undefined) ?? SURFACES[mode].surface);
  const ink = textOn(surface);
  const raised = own && given.surface1 !== undefined ? raisedOf(surface, given.surface2, ink) : parseColor(SURFACES[mode].raised);
  const accent = given.accent === undefined ? undefined : parseColor(given.accent);
  const tally = accent && readableBackground(ink, mix(surface, accent, TALLY_SHARE), surface);
  const backgrounds = [surface, raised, ...(tally ? [tally] : [])];
  const variables: ThemeVariables = {};
  const set = (name: keyof ThemeVariables, color: Rgb): void => {
    variables[name] = formatColor(color);
  };
  if (own && given.surface1 !== undefined) {
    set("--tifo-surface", surface);
    set("--tifo-raised", raised);
    const text = readableOn(given.text100 === undefined ? ink : parseColor(given.text100), backgrounds);
    set("--tifo-text", text);
    set("--tifo-quiet", readableOn(given.text200 === undefined ? mix(text, surface, 0.3) : parseColor(given.text200), backgrounds));
  }
  if (accent && tally) {
    set("--tifo-tally", tally);
    set("--tifo-accent", visibleOn(accent, surface));
    set("--tifo-on-accent", textOn(visibleOn(accent, surface)));
    set("--tifo-accent-text", readableOn(accent, backgrounds));
  }
  if (given.alertSuccess !== undefined) set("--tifo-good", readableOn(parseColor(given.alertSuccess), backgrounds));
  if (given.alertError !== undefined) set("--tifo-bad", readableOn(parseColor(given.alertError), backgrounds));
  return variables;
}

/** The second surface, or a shade of the first if the theme has none. */
function raisedOf(surface: Rgb, second: string | undefined, ink: Rgb): Rgb {
  return readableBackground(ink, second === undefined ? mix(surface, ink, 0.05) : parseColor(second), surface);
}

/** Keeps buttons distinguishable from their background. */
function visibleOn(accent: Rgb, surface: Rgb): Rgb {
  return contrast(accent, surface) >= MIN_EDGE_CONTRAST ? accent : readableOn(accent, [surface]);
}

function shapes({ button, typography }: EventTheme): ThemeVariables {
  const [buttons, cards] = RADII[button.borderRadius];
  return {
    "--tifo-button-radius": buttons,
    "--tifo-radius": cards,
    "--tifo-button-case": CASES[button.textCapitalization],
    "--tifo-font": typography.body,
    "--tifo-font-headline": typography.headline,
  };
}
