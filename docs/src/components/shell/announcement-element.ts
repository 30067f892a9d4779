import { remember } from "../../storage.ts";

/** The announcement bar. That it was dismissed is kept until there is another one (overrides/theme-provider.astro). */
class Announcement extends HTMLElement {
  connectedCallback(): void {
    this.querySelector("button")?.addEventListener("click", () => {
      remember("announcement.dismiss", "true");
      document.documentElement.toggleAttribute("data-announcement-dismissed", true);
    });
  }
}

/** Registers `<tifo-announcement>`. */
export function defineAnnouncement(): void {
  customElements.define("tifo-announcement", Announcement);
}
