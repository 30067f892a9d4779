import { slideDetails } from "./collapse.ts";

// The site's breakpoint is one below: at 996 px and less, the menu is behind a button.
const DESKTOP = "(min-width: 62.3125em)";

/** The sidebar, which is a menu in narrow windows. Opening and closing it needs no script; the rest does. */
class Menu extends HTMLElement {
  connectedCallback(): void {
    const desktop = matchMedia(DESKTOP);
    const adapt = (): void => {
      this.popover = desktop.matches ? null : "auto";
    };
    desktop.addEventListener("change", adapt);
    adapt();
    this.addEventListener("toggle", ({ newState }) => this.#holdFocus(newState === "open"));
    this.addEventListener("click", ({ target }) => {
      const panel = target instanceof HTMLElement ? target.closest<HTMLElement>(".switch")?.dataset["panel"] : undefined;
      if (panel !== undefined) this.#showPanel(panel);
    });
    for (const kind of ["popstate", "pageshow"]) addEventListener(kind, () => this.#close());
    slideDetails(this);
  }

  /** The page behind an open menu can't take focus. */
  #holdFocus(open: boolean): void {
    for (const behind of document.querySelectorAll(".main-frame, .sl-skip-link, .site-footer")) behind.toggleAttribute("inert", open);
    for (const button of document.querySelectorAll("[popovertarget=starlight__sidebar]"))
      button.setAttribute("aria-expanded", String(open));
    if (!open) delete this.dataset["panel"];
  }

  #showPanel(panel: string): void {
    this.dataset["panel"] = panel;
    this.querySelector<HTMLElement>(`.${panel}-panel :is(a, button)`)?.focus();
  }

  #close(): void {
    if (this.popover !== null && this.matches(":popover-open")) this.hidePopover();
  }
}

/** Registers `<tifo-menu>`. */
export function defineMenu(): void {
  customElements.define("tifo-menu", Menu);
}
