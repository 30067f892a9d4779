import { chainOf } from "./causes.ts";

/**
 * Shows what failed above the page's content; the page stays readable. Later errors are added to the same message.
 * @param failure an error, or a script element that couldn't be loaded
 */
export function showCrash(failure: unknown): void {
  const error = failure instanceof HTMLScriptElement ? new Error(`${failure.src} could not be loaded.`) : failure;
  const shown = document.querySelector("[data-crash] pre");
  if (shown) {
    shown.textContent += `\n\n${chainOf(error)}`;
    return;
  }
  const box = document.createElement("div");
  box.className = "crash not-content";
  box.dataset["crash"] = "";
  box.role = "alert";
  const title = document.createElement("h2");
  title.textContent = "This page crashed.";
  const text = document.createElement("pre");
  text.textContent = chainOf(error);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tifo-button";
  button.textContent = "Try again";
  button.addEventListener("click", () => location.reload());
  box.append(title, text, button);
  (document.querySelector("main") ?? document.body).prepend(box);
}
