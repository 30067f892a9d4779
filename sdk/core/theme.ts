import type { EventTheme } from "../model/state.ts";
import { readableBackground, contrast, formatColor, mix, parseColor, readableOn, type Rgb, textOn } from "./contrast.ts";

export type Mode = "light" | "dark";

/** Custom properties of `.tifo`, which `tifo.css` draws with; what a theme leaves open is absent and stays the style sheet's. */
export type ThemeVariables = Record<`--tifo-${string}`, string>;

// The style sheet's own surfaces: what a theme's colours lie on where it is made for the other mode.
const SURFACES: Record<Mode, { surface: string; raised: string }> = {
  light: { surface: "#ffffff", raised: "#f6f5fb" },
  dark: { surface: "#14121d", raised: "#1f1c2c" },
};
const RADII = { rounded: ["10px", "14px"], square: ["0", "0"], pill: ["99px", "18px"] } as const;
const CASES = { uppercase: "uppercase", lowercase: "lowercase", original: "none" } as const;
// How much of the accent lies below an answer's words.
const TALLY_SHARE = 0.22;
// What WCAG 2.2 (1.4.11) asks of the edge of a control.
const VISIBLE = 3;

/**
 * What a page's theme changes, so that it can still be read: text too near to what is behind it is brought towards black or white. A
 * theme's surfaces and texts hold in its own mode alone; its accent, fonts and corners in both.
 */
export function themeVariables(theme: EventTheme | null, mode: Mode): ThemeVariables {
  if (!theme) return {};
  return { ...colors(theme, mode), ...shapes(theme) };
}

function colors({ colors: given, mode: madeFor }: EventTheme, mode: Mode): ThemeVariables {
  const own = madeFor === mode;
  const surface = parseColor((own ? given.surface1 : undefined) ?? SURFACES[mode].surface);
  const ink = textOn(surface);
  const raised = own && given.surface1 !== undefined ? raisedOf(surface, given.surface2, ink) : parseColor(SURFACES[mode].raised);
  const accent = given.accent === undefined ? undefined : parseColor(given.accent);
  const tally = accent && readableBackground(ink, mix(surface, accent, TALLY_SHARE), surface);
  const behind = [surface, raised, ...(tally ? [tally] : [])];
  const variables: ThemeVariables = {};
  const set = (name: keyof ThemeVariables, color: Rgb): void => {
    variables[name] = formatColor(color);
  };
  if (own && given.surface1 !== undefined) {
    set("--tifo-surface", surface);
    set("--tifo-raised", raised);
    const text = readableOn(given.text100 === undefined ? ink : parseColor(given.text100), behind);
    set("--tifo-text", text);
    set("--tifo-quiet", readableOn(given.text200 === undefined ? mix(text, surface, 0.3) : parseColor(given.text200), behind));
  }
  if (accent && tally) {
    set("--tifo-tally", tally);
    set("--tifo-accent", visibleOn(accent, surface));
    set("--tifo-on-accent", textOn(visibleOn(accent, surface)));
    set("--tifo-accent-text", readableOn(accent, behind));
  }
  if (given.alertSuccess !== undefined) set("--tifo-good", readableOn(parseColor(given.alertSuccess), behind));
  if (given.alertError !== undefined) set("--tifo-bad", readableOn(parseColor(given.alertError), behind));
  return variables;
}

/** The second surface, or a shade of the first where the theme names none. */
function raisedOf(surface: Rgb, second: string | undefined, ink: Rgb): Rgb {
  return readableBackground(ink, second === undefined ? mix(surface, ink, 0.05) : parseColor(second), surface);
}

/** A button that nobody can tell from what it lies on is no button. */
function visibleOn(accent: Rgb, surface: Rgb): Rgb {
  return contrast(accent, surface) >= VISIBLE ? accent : readableOn(accent, [surface]);
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
