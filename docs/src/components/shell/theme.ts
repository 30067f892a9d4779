import { recall, remember } from "../../storage.ts";

const KEY = "starlight-theme";
const systemDark = "(prefers-color-scheme: dark)";

/** Shows these colours and keeps the choice. */
export function chooseTheme(theme: "light" | "dark"): void {
  document.documentElement.dataset["theme"] = theme;
  remember(KEY, theme);
}

/** Clears the choice: from now on the page follows the system. */
export function followSystem(): void {
  remember(KEY, "system");
  apply();
}

function apply(): void {
  if (recall(KEY) !== "system") return;
  document.documentElement.dataset["theme"] = matchMedia(systemDark).matches ? "dark" : "light";
}

/** Keeps a page that follows the system in step with it. */
export function watchSystem(): void {
  matchMedia(systemDark).addEventListener("change", apply);
}
