import type { OverlayContent, OverlayShow } from "../../channel/index.ts";

export type Kind = OverlayContent["kind"];

/** How long a graphic has to animate out. */
export const GRAPHIC_EXIT_MS = 1_500;

/**
 * What a component gets that shows an element in a slot of the stage. It renders a box whose size follows its content, in
 * `--tifo-unit`s, at most `--tifo-area-width` by `--tifo-area-height`, and nothing until it has something to show: the stage places the
 * box once it has a size, and moves it when the size changes.
 */
export interface SlotContentProps<K extends Kind> {
  content: Extract<OverlayContent, { kind: K }>;
  overlay: Readonly<OverlayShow>;
  mode: "light" | "dark";
  /** Nothing moves. */
  still: boolean;
  /** The overlay has ended: the element animates out, and is removed afterwards. */
  leaving: boolean;
  /** Call it with the element's text once it is rendered, and again for each new broadcast. It counts when the stage shows it. */
  onShown: (text: string) => void;
}

/**
 * The slot of an element. Most share the slot of their position, one after the other. One that later broadcasts update in place has its
 * own, which it keeps if it moves to another position.
 */
export function slotOf(content: OverlayContent): string {
  if (content.kind === "ograf") return `ograf ${content.graphic} ${content.key}`;
  return content.kind === "kit" ? `kit ${content.template} ${content.key}` : content.position;
}
