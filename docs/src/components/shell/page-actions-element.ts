/** Copies the page's Markdown. */
class PageActions extends HTMLElement {
  connectedCallback(): void {
    this.querySelector("button")?.addEventListener("click", () => void this.#copy());
  }

  async #copy(): Promise<void> {
    const status = this.querySelector("span");
    try {
      const response = await fetch(this.dataset["markdown"] ?? "");
      if (!response.ok) throw new Error(`The page's Markdown returned ${response.status}.`);
      await navigator.clipboard.writeText(await response.text());
      if (status) status.textContent = "Copied";
    } catch (error) {
      if (status) status.textContent = String(error);
    }
  }
}

/** Registers `<tifo-page-actions>`. */
export function definePageActions(): void {
  customElements.define("tifo-page-actions", PageActions);
}
