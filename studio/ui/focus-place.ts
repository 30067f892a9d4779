/** Where an element was before it left the page. */
export interface Gap {
  parent: Element;
  next: Node | null;
  previous: Node | null;
}

const FOCUSABLE = ":is(a[href], button, input, select, textarea, [tabindex]):not([tabindex='-1'], [type='hidden'])";

export function canHaveFocus(element: Element): boolean {
  return element.isConnected && !element.matches(":disabled") && element.closest("[inert]") === null && element.checkVisibility();
}

/**
 * What takes over the focus of an element that is gone: the same control of what replaced it, otherwise the closest one after the gap, or
 * before it. Null if there is none within the boundary.
 */
export function heirOf(element: Element, gap: Gap, boundary: Element): HTMLElement | null {
  return twinOf(element, gap.parent) ?? neighbourOf(gap, boundary);
}

/** The only control within the parent that is called the same. */
function twinOf(element: Element, parent: Element): HTMLElement | null {
  const name = nameOf(element);
  if (name === "") return null;
  const twins = focusableIn(parent).filter((candidate) => candidate.tagName === element.tagName && nameOf(candidate) === name);
  return twins.length === 1 ? (twins[0] ?? null) : null;
}

function nameOf(element: Element): string {
  const labels = element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? [...(element.labels ?? [])] : [element];
  return element.getAttribute("aria-label") ?? labels.map(({ textContent }) => textContent.trim()).join(" ");
}

function neighbourOf(gap: Gap, boundary: Element): HTMLElement | null {
  let parent: Element | null = gap.parent;
  let next = childOf(parent, gap.next) ?? childOf(parent, gap.previous)?.nextSibling ?? null;
  let previous = next ? next.previousSibling : parent.lastChild;
  while (parent) {
    // A screen that has been replaced, or everything, as by signing in: the next screen starts with its heading.
    if (parent.id === "main" || parent.querySelector("#main")) return null;
    const found = firstOf(next) ?? lastOf(previous);
    if (found) return found;
    if (parent === boundary) return null;
    if (parent instanceof HTMLElement && parent.matches(FOCUSABLE) && canHaveFocus(parent)) return parent;
    ({ nextSibling: next, previousSibling: previous } = parent);
    parent = parent.parentElement;
  }
  return null;
}

function childOf(parent: Element, node: Node | null): Node | null {
  return node?.parentNode === parent ? node : null;
}

function firstOf(start: Node | null): HTMLElement | null {
  for (let node = start; node; node = node.nextSibling) {
    const found = node instanceof Element ? focusableIn(node)[0] : undefined;
    if (found) return found;
  }
  return null;
}

function lastOf(start: Node | null): HTMLElement | null {
  for (let node = start; node; node = node.previousSibling) {
    const found = node instanceof Element ? focusableIn(node).at(-1) : undefined;
    if (found) return found;
  }
  return null;
}

/** What Tab reaches in an element, itself included. */
function focusableIn(element: Element): HTMLElement[] {
  const all = [element, ...element.querySelectorAll(FOCUSABLE)];
  return all.filter((candidate) => candidate instanceof HTMLElement).filter((one) => one.matches(FOCUSABLE) && canHaveFocus(one));
}
