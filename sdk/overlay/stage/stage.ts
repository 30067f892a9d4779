import { areaOf, type Box, defaultEdges, type Edges, layOut, type Position } from "./layout.ts";

/** Below every priority that a broadcast can have. */
const LEAVING = -1_000;

/** Where an element wants to be, and how important it is. */
export interface Placement {
  readonly position: Position;
  readonly priority: number;
  readonly order: number;
  /** While it leaves, it gives way to everything else. */
  readonly leaving: boolean;
}

/**
 * Places elements over the video, whatever is in them: an element needs only `position: absolute` and a size that follows its content.
 * The stage measures all of them whenever one or the stage itself changes size, and sets `translate` and `data-placed` ("yes" or
 * "waiting") on each. A move is a transition of `translate`, so the elements' own animations keep `transform`.
 */
export class Stage {
  readonly #root: HTMLElement;
  #edges: Edges | undefined;
  readonly #placements = new Map<HTMLElement, Placement>();
  readonly #whenVisible = new Map<HTMLElement, () => void>();
  readonly #sizes = new ResizeObserver(() => this.#arrange());

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#sizes.observe(root);
  }

  /** Undefined selects the default. */
  setSafeArea(edges: Edges | undefined): void {
    this.#edges = edges;
    this.#arrange();
  }

  /** Places an element, or changes where it wants to be. It is hidden while it has no size, and while it waits. */
  place(element: HTMLElement, placement: Placement): void {
    const isNew = !this.#placements.has(element);
    this.#placements.set(element, placement);
    if (isNew) this.#sizes.observe(element);
    this.#arrange();
  }

  /** Calls back once, as soon as the element is visible: immediately if it already is. Replaces an earlier callback of this element. */
  whenVisible(element: HTMLElement, callback: () => void): void {
    this.#whenVisible.set(element, callback);
    this.#arrange();
  }

  remove(element: HTMLElement): void {
    this.#whenVisible.delete(element);
    if (!this.#placements.delete(element)) return;
    this.#sizes.unobserve(element);
    delete element.dataset.placed;
    this.#arrange();
  }

  close(): void {
    this.#sizes.disconnect();
    this.#placements.clear();
    this.#whenVisible.clear();
  }

  #arrange(): void {
    const stage = { width: this.#root.clientWidth, height: this.#root.clientHeight };
    const edges = this.#edges ?? defaultEdges(stage);
    const area = areaOf(stage, edges);
    setVariable(this.#root, "--tifo-area-width", area.width);
    setVariable(this.#root, "--tifo-area-height", area.height);
    const measured = [...this.#placements].map(([element, placement]) => ({
      ...placement,
      id: element,
      width: element.offsetWidth,
      height: element.offsetHeight,
      priority: placement.leaving ? LEAVING : placement.priority,
    }));
    // What is still loading has no size.
    const items = measured.filter(({ width, height }) => width > 0 && height > 0);
    const { boxes, waiting } = layOut(stage, edges, items);
    for (const [element, box] of boxes) moveTo(element, box);
    for (const element of waiting) element.dataset.placed = "waiting";
    for (const { id, leaving } of items) if (!leaving && boxes.has(id)) this.#reportVisible(id);
  }

  #reportVisible(element: HTMLElement): void {
    const callback = this.#whenVisible.get(element);
    this.#whenVisible.delete(element);
    callback?.();
  }
}

function moveTo(element: HTMLElement, { x, y }: Box): void {
  // One that was hidden appears at its place, instead of moving there.
  const moves = element.dataset.placed === "yes";
  element.style.transitionProperty = moves ? "translate" : "none";
  element.style.translate = `${x}px ${y}px`;
  element.dataset.placed = "yes";
}

function setVariable(element: HTMLElement, name: string, pixels: number): void {
  const value = `${pixels}px`;
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}
