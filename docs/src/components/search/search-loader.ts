/** Loads the search box and its index on first focus or hover; Ctrl+K or Cmd+K focuses it. */
export function loadSearchWhenWanted(): void {
  const box = document.querySelector("tifo-search");
  const input = box?.querySelector("input");
  const hint = box?.querySelector("kbd");
  if (!box || !input || !hint) return;
  for (const kind of ["focusin", "mouseenter"]) box.addEventListener(kind, load, { once: true });
  if (box.contains(document.activeElement)) load();
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  if (/Mac|iPhone|iPad/.test(navigator.userAgent)) hint.textContent = "⌘ K";
}

/** If this fails, the form still opens the page of all results. */
function load(): void {
  import("./search-box.ts").then(({ defineSearchBox }) => defineSearchBox()).catch(console.warn);
}
