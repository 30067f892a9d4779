import { type RefObject, useEffect, useRef } from "react";
import type { PanelFocus } from "../../model/state.ts";
import { useEventState } from "../context.tsx";

interface CardProps {
  ref: RefObject<HTMLLIElement | null>;
  tabIndex: number | undefined;
  "data-focused": true | undefined;
}

/** The attributes of a list item that a call to action such as `show_person` scrolls to and focuses, if it is about that one. */
export function useFocusedCard(isAbout: (focus: PanelFocus) => boolean): CardProps {
  const ref = useRef<HTMLLIElement>(null);
  const focus = useEventState(({ panelFocus }) => panelFocus);
  const isFocused = focus !== null && isAbout(focus);
  useEffect(() => {
    const card = ref.current;
    if (!isFocused || !card) return undefined;
    card.focus({ preventScroll: true });
    return keepInView(card);
    // A new object for each call: the same person can be shown again.
  }, [focus, isFocused]);
  return { ref, tabIndex: isFocused ? -1 : undefined, "data-focused": isFocused || undefined };
}

/** How long what is above a card may take to load, ms. */
const LOADING_MS = 3_000;
const GESTURES = ["wheel", "touchmove", "keydown"];

/** Scrolls to a card, and again while what is above it loads and grows, unless the viewer scrolls. Returns a function that stops it. */
function keepInView(card: HTMLElement): () => void {
  const growth = new ResizeObserver(() => card.scrollIntoView({ block: "nearest" }));
  for (let element: HTMLElement | null = card; element; element = element.parentElement) {
    growth.observe(element);
    if (element.matches(".tifo-panel-content")) break;
  }
  const stop = (): void => growth.disconnect();
  const timer = setTimeout(stop, LOADING_MS);
  for (const gesture of GESTURES) addEventListener(gesture, stop, { once: true, passive: true });
  return () => {
    clearTimeout(timer);
    stop();
    for (const gesture of GESTURES) removeEventListener(gesture, stop);
  };
}
