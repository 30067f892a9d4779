/** Makes tables that are wider than their container focusable, so that they can be scrolled by keyboard. */
export function makeWideTablesFocusable(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });
  for (const table of document.querySelectorAll("main table")) observer.observe(table);
}
