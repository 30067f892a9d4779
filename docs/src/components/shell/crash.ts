import { chainOf } from "./causes.ts";

let shown: HTMLPreElement | undefined;

/** Shows what failed above the page's content; the page stays readable. Later errors are added to the same message. */
export function showCrash(event: Event): void {
  const error = errorOf(event);
  if (error === undefined || error === null) return;
  const text = chainOf(error);
  if (shown) {
    shown.append(`\n\n${text}`);
    return;
  }
  const box = document.createElement("div");
  box.className = "crash not-content";
  box.role = "alert";
  const title = document.createElement("h2");
  title.textContent = "This page crashed.";
  shown = document.createElement("pre");
  shown.textContent = text;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tifo-button";
  button.textContent = "Try again";
  button.addEventListener("click", () => location.reload());
  box.append(title, shown, button);
  const show = (): void => (document.querySelector("main") ?? document.body).prepend(box);
  // A script in the head can fail before there is a page.
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", show);
  else show();
}

/** What failed. Errors without an object are those of extensions, and warnings of the browser; pictures and styles that don't load aren't crashes. */
function errorOf(event: Event): unknown {
  if (event instanceof PromiseRejectionEvent) return event.reason;
  if (event instanceof ErrorEvent) return event.error;
  // A script that doesn't load is reported only to its element.
  return event.target instanceof HTMLScriptElement ? new Error(`${event.target.src} could not be loaded.`) : undefined;
}
