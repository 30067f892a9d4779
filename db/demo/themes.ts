import type { siteThemes, themes } from "#db/schema/themes.ts";
import { SITE_A, SITE_B, stamps } from "./match-day.ts";
import { CREST_A } from "./media.ts";

type ThemeInsert = typeof themes.$inferInsert;
type Look = Pick<ThemeInsert, "mode" | "colors">;

/** The main stage's theme. */
export const THEME_A = "5eed00000000000000008001";
const ADMIN_THEME = "5eed00000000000000008901";
const OPERATOR = "";

const NIGHT: Look = {
  mode: "dark",
  colors: {
    accent: "#4B3FD1",
    highlight: "#FACC15",
    surface1: "#0B0B12",
    surface2: "#12121B",
    surface3: "#191924",
    surface4: "#20202D",
    surface5: "#272736",
    surface6: "#2E2E3F",
    text100: "#FFFFFF",
    text200: "#E4E4EC",
    text300: "#CACAD6",
    text400: "#B4B4C4",
    text500: "#A2A2B5",
    alertError: "#F87171",
    alertWarning: "#FBBF24",
    alertSuccess: "#34D399",
    alertInfo: "#60A5FA",
  },
};

const DAYLIGHT: Look = {
  mode: "light",
  colors: {
    accent: "#3B2FB8",
    highlight: "#B45309",
    surface1: "#FFFFFF",
    surface2: "#F6F6F9",
    surface3: "#EDEDF3",
    text100: "#101018",
    text200: "#33333F",
    text300: "#4A4A58",
  },
};

/** The club's theme, one with contrast warnings, the rival's, and the operator's. */
export function demoThemes(): ThemeInsert[] {
  return [
    { ...theme(THEME_A, SITE_A, "Floodlight", "custom", NIGHT), logo: `/media/v1/${CREST_A}` },
    theme("5eed00000000000000008002", SITE_A, "Sea mist", "custom", { mode: "light", colors: { ...DAYLIGHT.colors, text300: "#9A9AA8" } }),
    theme("5eed00000000000000008101", SITE_B, "Rust", "custom", { mode: "dark", colors: { ...NIGHT.colors, accent: "#9A3412" } }),
    theme("5eed00000000000000008801", OPERATOR, "Daylight", "default", DAYLIGHT),
    theme("5eed00000000000000008802", OPERATOR, "Night", "default", NIGHT),
    theme(ADMIN_THEME, OPERATOR, "Control room", "admin", NIGHT),
  ];
}

export function demoSiteThemes(): (typeof siteThemes.$inferInsert)[] {
  return [{ siteId: SITE_A, themeId: ADMIN_THEME }];
}

function theme(id: string, siteId: string, name: string, type: ThemeInsert["type"], look: Look): ThemeInsert {
  return {
    ...stamps,
    ...look,
    id,
    siteId,
    name,
    type,
    button: { borderRadius: "pill", textCapitalization: "original" },
    typography: { body: "Inter, system-ui, sans-serif", headline: "Archivo, Inter, sans-serif" },
    backgrounds: [],
  };
}
