/**
 * Shows errors that no part of the page has handled, and scripts that don't load. The code that shows them is loaded when there
 * is one. Errors without an object are those of extensions, and warnings of the browser.
 */
export function watchErrors(): void {
  const show = (error: unknown): void => void import("./crash.ts").then(({ showCrash }) => showCrash(error));
  addEventListener("unhandledrejection", ({ reason }) => show(reason));
  const onError = ({ error, target }: ErrorEvent): void => {
    if (error ?? target instanceof HTMLScriptElement) show(error ?? target);
  };
  // A script that doesn't load is reported only to its element.
  addEventListener("error", onError, true);
}
