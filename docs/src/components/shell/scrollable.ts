/** Lets the keyboard reach, and so scroll, each table that is wider than its place, and only those. */
export function reachWideTables(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });
  for (const table of document.querySelectorAll("main table")) observer.observe(table);
}
