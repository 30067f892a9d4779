import { type CSSProperties, useMemo, useSyncExternalStore } from "react";
import { type Mode, themeVariables } from "../core/theme.ts";
import { useEventState, useSettings, useSdkContext, useTexts } from "./context.tsx";

const DARK = "(prefers-color-scheme: dark)";

/** Attributes of a `tifo` element that apply the page's theme and the viewer's settings. */
export interface ThemeAttributes {
  "data-mode": Mode;
  /** Disables motion. */
  "data-still": boolean;
  lang: string;
  dir: "ltr" | "rtl";
  style: CSSProperties;
}

export function useThemeAttributes(): ThemeAttributes {
  const theme = useEventState((state) => state.theme);
  const { reducedMotion, textScale } = useSettings();
  const { session } = useSdkContext();
  const systemMode = useSyncExternalStore(subscribeToSystemMode, currentSystemMode, () => "light" as const);
  const mode = session.mode === "system" ? systemMode : session.mode;
  const variables = useMemo(() => themeVariables(theme, mode), [theme, mode]);
  const { language, dir } = useTexts();
  return { "data-mode": mode, "data-still": reducedMotion, lang: language, dir, style: { ...variables, "--tifo-text-scale": textScale } };
}

function subscribeToSystemMode(listener: () => void): () => void {
  const query = matchMedia(DARK);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

function currentSystemMode(): Mode {
  return matchMedia(DARK).matches ? "dark" : "light";
}

declare module "react" {
  interface CSSProperties {
    [variable: `--tifo-${string}`]: string | number | undefined;
  }
}
