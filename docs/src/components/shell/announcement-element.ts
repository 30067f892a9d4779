import { remember } from "../../storage.ts";

/** The announcement bar. A dismissal is stored until there is a new announcement (overrides/theme-provider.astro). */
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
