import { recall, remember } from "../../storage.ts";

const KEY = "starlight-theme";
const systemDark = "(prefers-color-scheme: dark)";

/** Applies a theme and stores the choice. */
export function chooseTheme(theme: "light" | "dark"): void {
  document.documentElement.dataset["theme"] = theme;
  remember(KEY, theme);
}

/** Clears the choice, so that the page follows the system. */
export function followSystem(): void {
  remember(KEY, "system");
  apply();
}

function apply(): void {
  if (recall(KEY) !== "system") return;
  document.documentElement.dataset["theme"] = matchMedia(systemDark).matches ? "dark" : "light";
}

/** Updates a page that follows the system when the system changes. */
export function watchSystem(): void {
  matchMedia(systemDark).addEventListener("change", apply);
}
