import { recall, remember } from "./storage.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "tifo.studio.theme";

export function currentTheme(): Theme {
  const stored = recall(localStorage, KEY);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

/** Sets the colours of the page; "system" leaves the choice to the operating system. */
export function applyTheme(theme = currentTheme()): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function chooseTheme(theme: Theme): void {
  remember(localStorage, KEY, theme);
  applyTheme(theme);
}
