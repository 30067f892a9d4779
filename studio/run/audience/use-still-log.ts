import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";

interface Anchor {
  key: Virtualizer<HTMLDivElement, HTMLLIElement>["measurementsCache"][number]["key"];
  /** From the top of what is in view to the top of the row; negative for a row that is cut. */
  offset: number;
}

/**
 * Keeps a log still whose rows come in at its start, for a reader who has scrolled back: the first row in view stays where it is, whatever
 * is added or measured before it. At its start, the log shows what comes in. Returns what to call when it is scrolled.
 */
export function useStillLog(scroller: RefObject<HTMLDivElement | null>, rows: Virtualizer<HTMLDivElement, HTMLLIElement>): () => void {
  const anchor = useRef<Anchor | null>(null);
  // The virtualiser only knows where the log was when it was last scrolled, and would move it a second time.
  rows.shouldAdjustScrollPositionOnItemSizeChange = () => false;

  useLayoutEffect(() => {
    const [element, { current }] = [scroller.current, anchor];
    if (!element || !current) return;
    const row = rows.measurementsCache.find(({ key }) => key === current.key);
    if (!row) return;
    const top = row.start - current.offset;
    if (Math.abs(element.scrollTop - top) >= 1) element.scrollTop = top;
  });

  return useCallback(() => {
    const top = scroller.current?.scrollTop ?? 0;
    const row = rows.getVirtualItemForOffset(top);
    anchor.current = top > 0 && row ? { key: row.key, offset: row.start - top } : null;
  }, [scroller, rows]);
}
