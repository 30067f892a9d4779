import { type PointerEvent, type RefObject, type TouchEvent, useCallback, useLayoutEffect, useRef, useState, type WheelEvent } from "react";

// Pixels from the end within which a viewer who scrolls down to it follows it again.
const NEAR_END = 48;
// Pixels from the start within which older messages are loaded.
const NEAR_START = 240;
// Pixels that a finger moves down before it scrolls the list up.
const SWIPE = 8;
const MIDDLE_BUTTON = 1;

interface FollowOptions {
  /** A new list wherever rows are added or removed. */
  rows: readonly unknown[];
  /** Whether the end of the list can be followed. */
  canFollow: boolean;
  onChange: (following: boolean) => void;
  /** The viewer has scrolled up to the start of the list. */
  onStart: () => void;
}

export interface FollowedEnd {
  following: boolean;
  /** Scrolls to the end and follows it. */
  follow: () => void;
  /** The viewer scrolls up: the list stays where they scroll to. */
  leave: () => void;
  onScroll: () => void;
  /** The rows or the list have another size. */
  onResize: () => void;
  /** The handlers of the element around the list. */
  gestures: {
    onWheel: (event: WheelEvent) => void;
    onTouchStart: (event: TouchEvent) => void;
    onTouchMove: (event: TouchEvent) => void;
    onPointerDown: (event: PointerEvent) => void;
  };
}

/**
 * Keeps a list at its end until the viewer scrolls up. Their gesture decides, not the position: new rows and sizes move the position too, and
 * on a slow device the first scroll event comes long after the gesture.
 */
export function useFollowedEnd(list: RefObject<HTMLElement | null>, { rows, canFollow, onChange, onStart }: FollowOptions): FollowedEnd {
  const [following, setFollowing] = useState(true);
  // Refs, because events must take effect before the next render.
  const isFollowing = useRef(true);
  const seen = useRef({ room: 0, distance: 0 });
  const touchedAt = useRef(0);

  const set = useCallback(
    (next: boolean) => {
      if (isFollowing.current === next) return;
      isFollowing.current = next;
      if (list.current) seen.current = measure(list.current);
      setFollowing(next);
      onChange(next);
    },
    [list, onChange],
  );

  const toEnd = useCallback(() => {
    const { current } = list;
    if (!current || !isFollowing.current) return;
    current.scrollTo({ top: current.scrollHeight, behavior: "instant" });
    seen.current = measure(current);
  }, [list]);

  useLayoutEffect(() => {
    // A list that can't be scrolled is at its end.
    if (canFollow && list.current && measure(list.current).room <= 0) set(true);
    toEnd();
  }, [rows, canFollow, list, set, toEnd]);

  function leave(): void {
    const { current } = list;
    if (!current) return;
    if (current.scrollTop < NEAR_START) onStart();
    if (measure(current).room > 0) set(false);
  }

  function onScroll(): void {
    const { current } = list;
    if (!current) return;
    const before = seen.current;
    seen.current = measure(current);
    const { room, distance } = seen.current;
    if (!isFollowing.current) {
      if (current.scrollTop < NEAR_START) onStart();
      if (canFollow && distance < NEAR_END && distance < before.distance) set(true);
    } else if (distance > NEAR_END && room === before.room) {
      // Scrolled by something without a gesture, such as a screen reader. A list that was hidden starts at 0.
      if (current.scrollTop > 0) set(false);
      else toEnd();
    }
  }

  return {
    following,
    follow() {
      set(true);
      toEnd();
    },
    leave,
    onScroll,
    onResize: toEnd,
    gestures: {
      onWheel: ({ deltaY, ctrlKey }) => deltaY < 0 && !ctrlKey && leave(),
      onTouchStart: ({ touches }) => (touchedAt.current = touches[0]?.clientY ?? 0),
      onTouchMove: ({ touches }) => (touches[0]?.clientY ?? 0) - touchedAt.current > SWIPE && leave(),
      // The list itself is hit only at its scrollbar.
      onPointerDown: ({ target, button }) => (target === list.current || button === MIDDLE_BUTTON) && leave(),
    },
  };
}

/** How far a list can be scrolled, and how far it is from its end, in pixels. */
function measure({ scrollTop, scrollHeight, clientHeight }: HTMLElement): { room: number; distance: number } {
  const room = scrollHeight - clientHeight;
  return { room, distance: room - scrollTop };
}
