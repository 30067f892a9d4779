import { fill, storedCredentials } from "../key/credentials.ts";

/** Downloads documents with the page's origin and the reader's own credentials filled in. */
class Downloads extends HTMLElement {
  connectedCallback(): void {
    this.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      if (!link || link.href.startsWith("blob:")) return;
      event.preventDefault();
      this.#download(link).catch((error: unknown) => {
        const status = this.querySelector("[role=status]");
        if (status) status.textContent = `The download failed: ${String(error)}`;
      });
    });
  }

  async #download({ href, download }: HTMLAnchorElement): Promise<void> {
    const response = await fetch(href);
    if (!response.ok) throw new Error(`${href} returned ${response.status}`);
    const text = personal(await response.text());
    const file = document.createElement("a");
    file.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    file.download = download;
    file.click();
    URL.revokeObjectURL(file.href);
  }
}

/** Both documents name the deployment: the OpenAPI document in `servers`, the collection in its variables. */
function personal(text: string): string {
  const filled: unknown = JSON.parse(fill(text, storedCredentials(), location.origin));
  const isOpenApi = typeof filled === "object" && filled !== null && "openapi" in filled;
  const servers = [{ url: storedCredentials().origin || location.origin, description: "This deployment" }];
  return JSON.stringify(isOpenApi ? { ...filled, servers } : filled, null, 2);
}

/** Registers `<tifo-downloads>` once. */
export function defineDownloads(): void {
  if (!customElements.get("tifo-downloads")) customElements.define("tifo-downloads", Downloads);
}
