import { chooseTheme } from "./theme.ts";

/** The switch between light and dark mode. */
class ThemeSwitch extends HTMLElement {
  connectedCallback(): void {
    const root = document.documentElement;
    const button = this.querySelector("button");
    const show = (): void => button?.setAttribute("aria-checked", String(root.dataset["theme"] === "dark"));
    button?.addEventListener("click", () => chooseTheme(root.dataset["theme"] === "dark" ? "light" : "dark"));
    // A page can have two switches: in the header and in the menu.
    new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
    show();
  }
}

/** Registers `<tifo-theme-switch>`. */
export function defineThemeSwitch(): void {
  customElements.define("tifo-theme-switch", ThemeSwitch);
}
