import type { Theme } from "#studio/overlays/model.ts";

export const ACCENTS = [
  { color: "#4b3fd1", name: "Violet" },
  { color: "#0b6bcb", name: "Blue" },
  { color: "#0b7a55", name: "Green" },
  { color: "#c3163a", name: "Red" },
  { color: "#b4500f", name: "Orange" },
  { color: "#12122a", name: "Midnight" },
] as const;

export const LOOKS = [
  { value: "dark", text: "Dark" },
  { value: "light", text: "Light" },
];

const SURFACES = {
  dark: { surface1: "#0b0b12", surface2: "#16161f", text100: "#ffffff", text200: "#c9c9d6" },
  light: { surface1: "#ffffff", surface2: "#f3f3f8", text100: "#0b0b12", text200: "#4a4a5c" },
} as const;

interface Choice {
  name: string;
  accent: string;
  isDark: boolean;
}

/** A theme of one colour, with surfaces and text that are readable. What an existing theme has besides is kept. */
export function themeOf({ name, accent, isDark }: Choice, existing: Theme | null) {
  const mode = isDark ? ("dark" as const) : ("light" as const);
  const { button, typography, logo = null, icon = null, backgrounds = [] } = existing ?? {};
  return {
    name: existing?.name ?? name.slice(0, 100),
    mode,
    colors: { ...existing?.colors, accent, ...SURFACES[mode] },
    ...{ logo, icon, backgrounds },
    ...(button && { button }),
    ...(typography && { typography }),
  };
}
