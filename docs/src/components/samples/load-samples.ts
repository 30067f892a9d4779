import { fillCredentials } from "../key/fill-samples.ts";

/** Loads the samples in the page's other languages when the reader turns to the tabs, or at once if another language is chosen already. */
export function loadSamples(): void {
  const panels = [...document.querySelectorAll("[data-late]")];
  const tabs = panels[0]?.parentElement;
  if (!tabs) return;
  const done = new AbortController();
  let isLoading = false;
  const load = async (): Promise<void> => {
    if (isLoading) return;
    isLoading = true;
    if (await fill(panels)) done.abort();
    // Without a connection; the next turn to the tabs tries again.
    else isLoading = false;
  };
  for (const type of ["pointerover", "focusin", "click"]) tabs.addEventListener(type, () => void load(), { signal: done.signal });
  if (panels.some((panel) => !panel.hasAttribute("hidden"))) void load();
}

async function fill(panels: Element[]): Promise<boolean> {
  const samples: unknown = await fetch(`${location.pathname.replace(/\/$/, "")}/samples.json`)
    .then((response) => response.json())
    .catch(() => undefined);
  if (!Array.isArray(samples)) return false;
  for (const panel of panels) panel.innerHTML = String(samples[Number(panel.getAttribute("data-late"))]);
  fillCredentials();
  return true;
}

/** Gives copy buttons the text of the sample beside them when they are pressed, before their own listener reads it. */
export function copyFromSamples(): void {
  document.addEventListener(
    "click",
    ({ target }) => {
      const button = target instanceof Element ? target.closest<HTMLElement>(".expressive-code .copy button:not([data-code])") : null;
      const lines = button?.closest("figure")?.querySelectorAll(".ec-line") ?? [];
      if (button) button.dataset["code"] = [...lines].map((line) => (line.textContent ?? "").replace(/\n$/, "")).join("\u007f");
    },
    { capture: true },
  );
}
