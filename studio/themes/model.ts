import type { Schemas, TifoClient } from "#sdk/client/index.ts";
import { type Loaded as LoadedItem, loaded } from "#sdk/client/latest.ts";
import { contrastOf, TEXT_CONTRAST } from "#worker/services/themes/contrast.ts";

export type Theme = Schemas["Theme"];
export type ThemeInput = Schemas["CustomThemeInput"];
export type Role = keyof Schemas["ThemeColors"];
export type Loaded = LoadedItem<Theme>;

/** What the editor changes of a theme. */
export interface Draft extends Required<Pick<Theme, "name" | "mode" | "button" | "typography" | "backgrounds">> {
  colors: Readonly<Partial<Record<Role, string>>>;
  logo: string;
  icon: string;
}

interface ColorRole {
  role: Role;
  label: string;
  /** What viewers have unless the theme says otherwise; only shown. */
  sample: string;
}

/** The colours that make a brand, and those that few themes change. */
export const MAIN_COLORS: readonly ColorRole[] = [
  { role: "accent", label: "Accent", sample: "#4b3fd1" },
  { role: "highlight", label: "Highlight", sample: "#facc15" },
  { role: "surface1", label: "Background", sample: "#0b0b12" },
  { role: "surface2", label: "Raised background", sample: "#16161f" },
  { role: "text100", label: "Text", sample: "#ffffff" },
  { role: "text200", label: "Secondary text", sample: "#c9c9d6" },
];
export const MORE_COLORS: readonly ColorRole[] = [
  { role: "surface3", label: "Background, third level", sample: "#1f1f2b" },
  { role: "surface4", label: "Background, fourth level", sample: "#292938" },
  { role: "surface5", label: "Background, fifth level", sample: "#343446" },
  { role: "surface6", label: "Background, front", sample: "#404056" },
  { role: "text300", label: "Text, third level", sample: "#a9a9ba" },
  { role: "text400", label: "Text, fourth level", sample: "#8a8a9e" },
  { role: "text500", label: "Text, faintest", sample: "#6d6d82" },
  { role: "alertError", label: "Error", sample: "#e5484d" },
  { role: "alertWarning", label: "Warning", sample: "#f5a524" },
  { role: "alertSuccess", label: "Success", sample: "#30a46c" },
  { role: "alertInfo", label: "Information", sample: "#3e8bff" },
];

const ALL = [...MAIN_COLORS, ...MORE_COLORS];
export const HEX = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;

export const NEW_THEME: Draft = {
  name: "",
  mode: "dark",
  colors: Object.fromEntries(MAIN_COLORS.map(({ role, sample }) => [role, sample])),
  button: { borderRadius: "rounded", textCapitalization: "original" },
  typography: { body: "system-ui", headline: "system-ui" },
  logo: "",
  icon: "",
  backgrounds: [],
};

export function draftOf({ name, mode, colors, button, typography, logo, icon, backgrounds }: Theme): Draft {
  return { ...{ name, mode, colors, button, typography, backgrounds }, logo: logo ?? "", icon: icon ?? "" };
}

/** The draft as the API takes it: a colour that is left empty is Tifo's own. */
export function bodyOf({ colors, logo, icon, ...draft }: Draft, type: ThemeInput["type"]): ThemeInput {
  const chosen = Object.entries(colors).filter(([, color]) => color.trim() !== "");
  return { ...draft, type, colors: Object.fromEntries(chosen), logo: logo.trim() || null, icon: icon.trim() || null };
}

/** The type of a theme of the site; those of the operator aren't changed here. */
export function typeOf(theme: Theme | null): ThemeInput["type"] {
  return theme?.type === "classic" || theme?.type === "advanced" ? theme.type : "custom";
}

/** What is hard to read, by the role of the text or accent, as the API warns of it. */
export function contrastWarnings(colors: Draft["colors"]): Map<Role, string> {
  const warnings = new Map<Role, string>();
  const known = ALL.filter(({ role }) => HEX.test(colors[role] ?? ""));
  for (const text of known.filter(({ role }) => role.startsWith("text"))) {
    const surfaces = known
      .filter(({ role }) => role.startsWith("surface"))
      .map(({ role, label }) => ({ label, ratio: contrastOf(colors[text.role] ?? "", colors[role] ?? "") }))
      .toSorted((a, b) => a.ratio - b.ratio);
    const [worst] = surfaces;
    if (worst && worst.ratio < TEXT_CONTRAST) warnings.set(text.role, `${ratioText(worst.ratio)} on “${worst.label}”: text needs 4.5:1`);
  }
  const labels = known.filter(({ role }) => role === "text100" || role === "surface1").map(({ role }) => colors[role] ?? "");
  const best = Math.max(...labels.map((label) => contrastOf(colors.accent ?? "", label)));
  if (HEX.test(colors.accent ?? "") && labels.length > 0 && best < TEXT_CONTRAST)
    warnings.set("accent", `${ratioText(best)} at best for a button’s label: text needs 4.5:1`);
  return warnings;
}

/** Rounded down, so that a ratio just below the limit isn't shown as sufficient. */
function ratioText(ratio: number): string {
  return `${(Math.floor(ratio * 100) / 100).toString()}:1`;
}

export function readTheme({ api }: TifoClient, id: string): Promise<Loaded> {
  return loaded(api.GET("/themes/v1/{id}", { params: { path: { id } } }));
}
