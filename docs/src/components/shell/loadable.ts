const SPINNER_AFTER_MS = 200;

/**
 * Shows what `load` brings in `place`: a spinner when it takes a moment, what went wrong with a way to try again when it fails.
 * @param load fills the place; it is called anew by Retry
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
  note.className = "tifo-loading";
  note.role = "status";
  note.textContent = "Loading …";
  return note;
}

function failed(error: unknown, retry: () => void): HTMLElement {
  const box = document.createElement("div");
  box.className = "crash";
  box.role = "alert";
  const text = document.createElement("p");
  text.textContent = String(error);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tifo-button";
  button.textContent = "Retry";
  button.addEventListener("click", retry);
  box.append(text, button);
  return box;
}
