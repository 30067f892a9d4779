import { chooseTheme } from "./theme.ts";

/** The switch between the light and the dark colours. */
class ThemeSwitch extends HTMLElement {
  connectedCallback(): void {
    const root = document.documentElement;
    const button = this.querySelector("button");
    const show = (): void => button?.setAttribute("aria-checked", String(root.dataset["theme"] === "dark"));
    button?.addEventListener("click", () => chooseTheme(root.dataset["theme"] === "dark" ? "light" : "dark"));
    // The page may hold two switches: header and menu.
    new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
    show();
  }
}

/** Registers `<tifo-theme-switch>`. */
export function defineThemeSwitch(): void {
  customElements.define("tifo-theme-switch", ThemeSwitch);
}
