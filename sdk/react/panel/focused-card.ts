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
    if (!isFocused) return;
    ref.current?.scrollIntoView({ block: "nearest" });
    ref.current?.focus({ preventScroll: true });
    // A new object for each call: the same person can be shown again.
  }, [focus, isFocused]);
  return { ref, tabIndex: isFocused ? -1 : undefined, "data-focused": isFocused || undefined };
}
