import type { Page } from "playwright-core";

/** Shown on top of what they belong to, or drawn by somebody else: overlays, charts, code. */
const NOT_OURS = ".monitor-stage, .monitor-screen, .preview-stage, .preview-screen, .chart-canvas, .cm-editor, iframe, .visually-hidden";

/** What is wrong with the layout of a screen, whatever its size: it is wider than the window, or text or controls can't be reached. */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate((notOurs) => {
    const CONTROLS = "a[href], button, input, select, textarea, [role=tab], [role=option], [role=slider]";
    const faults: string[] = [];
    const shown = (element: Element): boolean =>
      element.closest(notOurs) === null && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const nameOf = (element: Element): string =>
      `${element.tagName.toLowerCase()}.${element.classList.value.replaceAll(" ", ".")} “${element.textContent.trim().slice(0, 40)}”`;
    const styles = new Map<Element, CSSStyleDeclaration>();
    const styleOf = (element: Element): CSSStyleDeclaration => {
      const style = styles.get(element) ?? getComputedStyle(element);
      styles.set(element, style);
      return style;
    };
    const ancestors = function* (element: Element): Generator<Element> {
      for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) yield parent;
    };

    const width = document.documentElement.clientWidth;
    for (const frame of [document.documentElement, ...document.querySelectorAll(".shell-main")])
      if (frame.scrollWidth > frame.clientWidth) faults.push(`${nameOf(frame).split(" ")[0] ?? ""} is ${String(frame.scrollWidth)} wide`);

    for (const element of document.querySelectorAll("body *")) {
      // The text of a field scrolls; the inside of a switch is hidden on purpose.
      if (element.matches("input") || element.textContent.trim() === "") continue;
      const { overflowX, overflowY, textOverflow, webkitLineClamp } = styleOf(element);
      const cutsX = /hidden|clip/.test(overflowX) && element.scrollWidth > element.clientWidth + 1 && textOverflow !== "ellipsis";
      const cutsY = /hidden|clip/.test(overflowY) && element.scrollHeight > element.clientHeight + 1 && webkitLineClamp === "none";
      if ((cutsX || (cutsY && textOverflow !== "ellipsis")) && element.clientWidth > 0 && shown(element))
        faults.push(`cut: ${nameOf(element)}`);
    }

    /** The part of an element that the frames around it show, and the layer that it is on. */
    const placeOf = (element: Element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const place = { left, top, right, bottom };
      let layer: Element | null = null;
      let scrolls = false;
      for (const parent of ancestors(element)) {
        const { overflowX, overflowY, position } = styleOf(parent);
        if (layer === null && /fixed|sticky/.test(position)) layer = parent;
        if (overflowX === "visible" && overflowY === "visible") continue;
        const frame = parent.getBoundingClientRect();
        if (/auto|scroll/.test(overflowX) && !parent.matches(".shell-main")) scrolls = true;
        place.left = Math.max(place.left, frame.left);
        place.top = Math.max(place.top, frame.top);
        place.right = Math.min(place.right, frame.right);
        place.bottom = Math.min(place.bottom, frame.bottom);
      }
      return { element, layer, scrolls, left, right, place };
    };
    const controls = [...document.querySelectorAll(CONTROLS)]
      .filter((element) => !element.matches(".skip-link") && shown(element))
      .map(placeOf);
    for (const { element, scrolls, left, right } of controls)
      if (!scrolls && (left < -1 || right > width + 1)) faults.push(`outside: ${nameOf(element)} ${String(left)}-${String(right)}`);
    for (const [index, { element, layer, place }] of controls.entries()) {
      for (const other of controls.slice(index + 1)) {
        if (other.layer !== layer || element.contains(other.element) || other.element.contains(element)) continue;
        const across = Math.min(place.right, other.place.right) - Math.max(place.left, other.place.left);
        const down = Math.min(place.bottom, other.place.bottom) - Math.max(place.top, other.place.top);
        if (across > 1 && down > 1) faults.push(`overlap: ${nameOf(element)} and ${nameOf(other.element)}`);
      }
    }
    return faults;
  }, NOT_OURS);
}
