import { preferVersion } from "../../versions.ts";
import { slide } from "./collapse.ts";

/** A button with a dropdown that closes on a click, touch or focus elsewhere, and on Escape. */
class Dropdown extends HTMLElement {
  connectedCallback(): void {
    this.querySelector("button")?.addEventListener("click", () => this.#show(!this.#isOpen));
    for (const kind of ["mousedown", "touchstart", "focusin"]) document.addEventListener(kind, this.#closeFromOutside);
    this.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !this.#isOpen) return;
      this.#show(false);
      this.querySelector("button")?.focus();
    });
    this.addEventListener("click", ({ target }) => {
      const version = target instanceof HTMLElement ? target.closest("a")?.dataset["version"] : undefined;
      if (version !== undefined) preferVersion(version);
    });
  }

  disconnectedCallback(): void {
    for (const kind of ["mousedown", "touchstart", "focusin"]) document.removeEventListener(kind, this.#closeFromOutside);
  }

  readonly #closeFromOutside = ({ target }: Event): void => {
    if (this.#isOpen && !(target instanceof Node && this.contains(target))) this.#show(false);
  };

  get #isOpen(): boolean {
    return this.querySelector("button")?.getAttribute("aria-expanded") === "true";
  }

  #show(open: boolean): void {
    const part = this.querySelector<HTMLElement>(".dropdown");
    this.querySelector("button")?.setAttribute("aria-expanded", String(open));
    if (!part) return;
    part.hidden = false;
    slide(part, open, () => (part.hidden = !this.#isOpen));
  }
}

/** Registers `<tifo-dropdown>`. */
export function defineDropdown(): void {
  customElements.define("tifo-dropdown", Dropdown);
}
