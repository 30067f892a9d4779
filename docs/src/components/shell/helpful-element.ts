import { recall, remember } from "../../storage.ts";

const THANKS = "Thank you. Your answer is stored only in this browser.";

/** "Was this helpful?" Stores the answer and dispatches the event `tifo:helpful` with `{ path, answer }`. */
class Helpful extends HTMLElement {
  connectedCallback(): void {
    const key = `helpful ${location.pathname}`;
    this.addEventListener("click", ({ target }) => {
      if (!(target instanceof HTMLButtonElement)) return;
      remember(key, target.value);
      this.#show(target.value);
      document.dispatchEvent(new CustomEvent("tifo:helpful", { detail: { path: location.pathname, answer: target.value } }));
    });
    const before = recall(key);
    if (before !== null) this.#press(before);
  }

  #press(answer: string): void {
    for (const button of this.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.value === answer));
  }

  #show(answer: string): void {
    this.#press(answer);
    const status = this.querySelector("p");
    if (!status) return;
    status.textContent = THANKS;
    const edit = status.dataset["edit"];
    if (answer !== "no" || edit === undefined) return;
    const link = document.createElement("a");
    link.href = edit;
    link.textContent = "Improve this page";
    status.append(" ", link);
  }
}

/** Registers `<tifo-helpful>`. */
export function defineHelpful(): void {
  customElements.define("tifo-helpful", Helpful);
}
