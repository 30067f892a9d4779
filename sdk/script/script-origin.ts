/**
 * The deployment that one of the SDK's scripts comes from. A page may load it as a module, or defer it with an optimizer: there is no
 * `currentScript` then, but its element is in the page.
 */
export function scriptOrigin(file: string): string | undefined {
  const script = document.currentScript ?? document.querySelector(`script[src*="/${file}"]`);
  return script instanceof HTMLScriptElement && script.src !== "" ? new URL(script.src).origin : undefined;
}
