import { chainOf } from "./causes.ts";

const SPINNER_AFTER_MS = 200;

/**
 * Shows the content that `load` renders into `place`, a spinner while that takes a moment, or an error with a Retry button.
 * @param load renders the content; Retry calls it again
 */
export async function showLoaded(place: HTMLElement, load: () => Promise<void>): Promise<void> {
  const spinner = setTimeout(() => place.replaceChildren(waiting()), SPINNER_AFTER_MS);
  try {
    await load();
  } catch (error) {
    place.replaceChildren(failed(error, () => void showLoaded(place, load)));
  } finally {
    clearTimeout(spinner);
  }
}

function waiting(): HTMLElement {
  const note = document.createElement("p");
  note.className = "site-loading";
  note.role = "status";
  note.textContent = "Loading …";
  return note;
}

function failed(error: unknown, retry: () => void): HTMLElement {
  const box = document.createElement("div");
  box.className = "crash";
  box.role = "alert";
  const text = document.createElement("pre");
  text.textContent = chainOf(error);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tifo-button";
  button.textContent = "Retry";
  button.addEventListener("click", retry);
  box.append(text, button);
  return box;
}
