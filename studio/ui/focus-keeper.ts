import { canHaveFocus, type Gap, heirOf } from "./focus-place.ts";

/** A place where the focus has been. */
interface Place {
  element: HTMLElement;
  /** The dialog, menu or notification that it is in. */
  layer: Element | null;
  /** Where the focus was before it went into the layer. */
  opener: Place | null;
  /** Set when the element has left the page. */
  gap: Gap | null;
}

/**
 * Keeps the focus of the keyboard in the page. When the focused element disappears, with its dialog, its row or its screen, the browser
 * moves the focus to nothing, and whoever works with the keyboard starts again at the top. Instead, it returns to what opened the dialog,
 * or goes to the closest control. Components that move the focus themselves have done so before; React Aria's dialogs do, but not if what
 * opened them is gone or was another dialog, and not before all transitions of the page have ended.
 */
export function keepFocus(): void {
  const openers = new WeakMap<Element, Place | null>();
  let place: Place | null = null;
  let frame = 0;

  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement) || target === document.body) return;
    const layer = layerOf(target);
    if (layer && (!openers.has(layer) || (staysOpen(layer) && place?.layer !== layer))) openers.set(layer, place);
    place = { element: target, layer, opener: (layer && openers.get(layer)) ?? null, gap: null };
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (relatedTarget) return;
    // An element that can still have the focus has lost it on purpose.
    queueMicrotask(() => {
      if (isLost() && target instanceof Element && canHaveFocus(target)) place = null;
    });
  });
  document.addEventListener("pointerdown", () => {
    if (isLost()) place = null;
  });

  function settle(): void {
    if (!isLost() || !place) return;
    for (let lost: Place | null = place; lost; lost = lost.opener) {
      if (lost.element.isConnected) {
        // One that can't have the focus yet gets it as soon as it can.
        if (canHaveFocus(lost.element)) lost.element.focus();
        return;
      }
      const boundary = lost.layer ?? document.getElementById("root");
      const heir = lost.gap && boundary?.contains(lost.gap.parent) === true ? heirOf(lost.element, lost.gap, boundary) : null;
      if (heir) return heir.focus();
      if (!lost.layer) break;
    }
    const screen = document.getElementById("main");
    // The next screen is still loading.
    if (!screen) return;
    place = null;
    screen.focus({ preventScroll: true });
  }

  const observer = new MutationObserver((records) => {
    if (!place || !isLost()) return;
    for (let lost: Place | null = place; lost; lost = lost.opener) noteGap(lost, records);
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(settle);
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled", "inert"] });
}

function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function noteGap(place: Place, records: readonly MutationRecord[]): void {
  if (place.element.isConnected) {
    place.gap = null;
    return;
  }
  for (const { target, removedNodes, nextSibling: next, previousSibling: previous } of records) {
    const gone = place.gap?.parent ?? place.element;
    if (target instanceof Element && [...removedNodes].some((node) => node.contains(gone))) place.gap = { parent: target, next, previous };
  }
}

const NOTIFICATIONS = "[role='log'][aria-label='Notifications']";

/** Dialogs and menus are elements of their own beside the application. */
function layerOf(element: Element): Element | null {
  const layer = element.closest(`body > *, ${NOTIFICATIONS}`);
  return layer?.id === "root" ? null : layer;
}

function staysOpen(layer: Element): boolean {
  return layer.matches(NOTIFICATIONS);
}
