import { afterJump, afterScroll, type NavbarState, SHOWN } from "../../navbar/hideable-navbar.ts";

/** The site's header. With the attribute `hide-on-scroll` it hides while the reader scrolls down. Every page starts with it shown. */
class Header extends HTMLElement {
  #state = SHOWN;

  connectedCallback(): void {
    addEventListener("scroll", this.#onScroll, { passive: true });
    addEventListener("hashchange", this.#onJump);
    this.addEventListener("focusin", () => this.#show({ ...this.#state, hidden: false }));
  }

  disconnectedCallback(): void {
    removeEventListener("scroll", this.#onScroll);
    removeEventListener("hashchange", this.#onJump);
  }

  readonly #onScroll = (): void => {
    if (!this.hasAttribute("hide-on-scroll")) return;
    this.#show(afterScroll(this.#state, scrollY, this.offsetHeight, document.documentElement.scrollHeight - innerHeight));
  };

  readonly #onJump = (): void => {
    if (this.hasAttribute("hide-on-scroll")) this.#show(afterJump(this.#state));
  };

  #show(state: NavbarState): void {
    this.#state = state;
    this.toggleAttribute("data-hidden", state.hidden);
  }
}

/** Registers `<tifo-header>`. */
export function defineHeader(): void {
  customElements.define("tifo-header", Header);
}
