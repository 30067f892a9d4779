import { type CSSProperties, useMemo, useSyncExternalStore } from "react";
import { type Mode, themeVariables } from "../core/theme.ts";
import { useEventState, useSettings, useSdkContext } from "./context.tsx";

const DARK = "(prefers-color-scheme: dark)";

/** What an element of class `tifo` carries so that the style sheet draws the page's theme as this viewer wants it. */
export interface ThemeAttributes {
  "data-mode": Mode;
  /** Nothing moves. */
  "data-still": boolean;
  style: CSSProperties;
}

export function useThemeAttributes(): ThemeAttributes {
  const theme = useEventState((state) => state.theme);
  const { reducedMotion, textScale } = useSettings();
  const { session } = useSdkContext();
  const systemMode = useSyncExternalStore(onSystemMode, systemModeNow, () => "light" as const);
  const mode = session.mode === "system" ? systemMode : session.mode;
  const variables = useMemo(() => themeVariables(theme, mode), [theme, mode]);
  return { "data-mode": mode, "data-still": reducedMotion, style: { ...variables, "--tifo-text-scale": textScale } };
}

function onSystemMode(listener: () => void): () => void {
  const query = matchMedia(DARK);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

function systemModeNow(): Mode {
  return matchMedia(DARK).matches ? "dark" : "light";
}

declare module "react" {
  interface CSSProperties {
    [variable: `--tifo-${string}`]: string | number | undefined;
  }
}
